// Properties of every geometry, policy and access pattern, on random ones. A failure names the seed of its case.
#include "memory_fixture.hpp"
#include "sim/memory/replacement.hpp"
#include "sim/memory/tag_array.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <list>
#include <memory>
#include <random>
#include <set>
#include <vector>

namespace gputomo::sim::test {
namespace {

constexpr std::uint64_t kRandomCases = 150;

class RandomSource {
public:
    explicit RandomSource(std::uint64_t seed) : random_(seed) {}
    std::uint64_t below(std::uint64_t end) { return random_() % end; }
    std::uint64_t between(std::uint64_t low, std::uint64_t high) { return low + below(high - low + 1); }

private:
    std::mt19937_64 random_;
};

Geometry random_geometry(RandomSource& random, const std::string& policy) {
    Geometry g;
    g.block_shift = static_cast<std::uint32_t>(random.between(4, 8));
    g.sector_shift = g.block_shift - static_cast<std::uint32_t>(random.below(3));
    g.policy = policy;
    std::size_t sets = random.between(1, 9);
    if (random.below(3) == 0) {
        const std::size_t bits = random.between(1, 4);
        sets = std::size_t{1} << bits;
        // Each mask owns one bit above the line, so that all sets are in use, and may have others further up.
        for (std::size_t bit = 0; bit < bits; ++bit)
            g.index_masks.push_back(std::uint64_t{1} << (g.block_shift + bit) | random.below(256)
                                                                                    << (g.block_shift + bits));
    }
    const bool equal = random.below(2) == 0 || policy == "way-odds";
    const auto ways = static_cast<std::uint32_t>(random.between(1, 40));
    for (std::size_t set = 0; set < sets; ++set)
        g.set_ways.push_back(equal ? ways : static_cast<std::uint32_t>(random.between(1, 40)));
    g.way_odds.assign(ways, 1.0 / ways);
    return g;
}

/// A textbook cache: a list of blocks for each set, most recently used first.
class PlainLru {
public:
    explicit PlainLru(const Geometry& geometry) : geometry_(geometry), sets_(geometry.set_ways.size()) {}
    bool hit(std::uint64_t address) {
        const std::uint64_t block = address >> geometry_.block_shift, sector = address >> geometry_.sector_shift;
        const std::size_t index = set_of(address);
        auto& set = sets_[index];
        const auto found = std::find_if(set.begin(), set.end(), [&](const Line& line) { return line.block == block; });
        Line line{block, {}};
        if (found != set.end()) {
            line = *found;
            set.erase(found);
        } else if (set.size() == geometry_.set_ways[index]) {
            set.pop_back();
        }
        const bool known = !line.sectors.insert(sector).second;
        set.push_front(line);
        return known;
    }

private:
    struct Line {
        std::uint64_t block;
        std::set<std::uint64_t> sectors;
    };
    [[nodiscard]] std::size_t set_of(std::uint64_t address) const {
        if (geometry_.index_masks.empty()) return (address >> geometry_.block_shift) % sets_.size();
        std::size_t set = 0;
        for (std::size_t bit = 0; bit < geometry_.index_masks.size(); ++bit)
            for (std::uint64_t ones = address & geometry_.index_masks[bit]; ones != 0; ones &= ones - 1)
                set ^= std::size_t{1} << bit;
        return set;
    }
    Geometry geometry_;
    std::vector<std::list<Line>> sets_;
};

bool hits(TagArray& tags, std::uint64_t address) {
    return tags.lookup(address, tags.sectors_of(address, 1), true).missing == 0;
}

TEST(MemoryProperty, LruAgreesWithAListModel) {
    for (std::uint64_t seed = 0; seed < kRandomCases; ++seed) {
        RandomSource random(seed);
        const Geometry geometry = random_geometry(random, "lru");
        TagArray tags(std::make_shared<const Geometry>(geometry), seed);
        PlainLru model(geometry);
        const std::uint64_t range = random.between(1, 30) << random.between(4, 12);
        for (int i = 0; i < 3000; ++i) {
            const std::uint64_t address = random.below(range);
            ASSERT_EQ(hits(tags, address), model.hit(address)) << "seed " << seed << ", access " << i;
        }
    }
}

TEST(MemoryProperty, AnArrayThatFitsHitsAfterItsFirstPass) {
    for (const auto policy : replacement_policies())
        for (std::uint64_t seed = 0; seed < 40; ++seed) {
            RandomSource random(seed);
            Geometry geometry = random_geometry(random, std::string(policy));
            geometry.index_masks.clear();
            TagArray tags(std::make_shared<const Geometry>(geometry), seed);
            // Consecutive blocks, as many as the smallest set allows in every set.
            const std::uint64_t blocks =
                *std::min_element(geometry.set_ways.begin(), geometry.set_ways.end()) * geometry.set_ways.size();
            const std::uint64_t step = std::uint64_t{1} << geometry.sector_shift;
            for (int pass = 0; pass < 3; ++pass)
                for (std::uint64_t at = 0; at < blocks << geometry.block_shift; at += step)
                    ASSERT_EQ(hits(tags, (std::uint64_t{1} << 20) * geometry.set_ways.size() + at), pass > 0)
                        << policy << ", seed " << seed;
        }
}

TEST(MemoryProperty, LargerLruCachesOfTheSameSetsNeverMissMore) {
    for (std::uint64_t seed = 0; seed < kRandomCases; ++seed) {
        RandomSource random(seed);
        const Geometry geometry = random_geometry(random, "lru");
        Geometry larger = geometry;
        for (auto& ways : larger.set_ways) ways += static_cast<std::uint32_t>(random.below(4));
        TagArray small(std::make_shared<const Geometry>(geometry), 1),
            large(std::make_shared<const Geometry>(larger), 1);
        for (int i = 0; i < 3000; ++i) {
            const std::uint64_t address = random.below(1 << 14);
            const bool in_small = hits(small, address), in_large = hits(large, address);
            ASSERT_TRUE(in_large || !in_small) << "LRU is a stack: seed " << seed << ", access " << i;
        }
    }
}

TEST(MemoryProperty, ALookupRightAfterAnotherOfTheSameBlockHits) {
    for (const auto policy : replacement_policies())
        for (std::uint64_t seed = 0; seed < 40; ++seed) {
            RandomSource random(seed);
            TagArray tags(std::make_shared<const Geometry>(random_geometry(random, std::string(policy))), seed);
            for (int i = 0; i < 1000; ++i) {
                const std::uint64_t address = random.below(1 << 16);
                (void)hits(tags, address);
                ASSERT_TRUE(hits(tags, address)) << policy << ", seed " << seed;
            }
        }
}

machine::Machine random_machine(RandomSource& random) {
    const auto policies = replacement_policies();
    const auto policy = [&] {
        return std::string(policies[random.below(policies.size() - 1)]);
    };  // the last one needs odds
    auto l1 = make_cache({.sector = std::int64_t{32} << random.below(3),
                          .ways = static_cast<std::int64_t>(random.between(1, 6)),
                          .sets = static_cast<std::int64_t>(random.between(1, 9)),
                          .policy = policy()});
    auto l2 = make_cache({.scope = "gpu",
                          .sector = std::int64_t{32} << random.below(3),
                          .ways = static_cast<std::int64_t>(random.between(1, 16)),
                          .sets = static_cast<std::int64_t>(random.between(1, 30)),
                          .policy = policy(),
                          .latency = 200});
    l1.bytes_per_cycle.set(static_cast<double>(random.between(8, 128)));
    l2.bytes_per_cycle.set(static_cast<double>(random.between(16, 512)));
    l1.outstanding_design.set(random.below(2) == 0 ? "mshr" : "prt");
    l1.outstanding_entries.set(static_cast<std::int64_t>(random.between(1, 64)));
    l1.outstanding_merge.set(static_cast<std::int64_t>(random.between(1, 8)));
    auto m = machine_with({{"l1", l1}, {"l2", l2}});
    m.tlbs["t1"] = make_tlb({.ways = static_cast<std::int64_t>(random.between(1, 8))});
    m.paths["global"].tlbs.set({"t1"});
    if (random.below(2) == 0) m.paths["global"].tlb_position.set("after-first-cache");
    m.memory.channels.set(static_cast<std::int64_t>(random.between(1, 12)));
    m.memory.copy_bandwidth.set(static_cast<double>(random.between(50, 110)));
    m.memory.interconnect_bytes_per_cycle.set(static_cast<double>(random.between(8, 64)));
    return m;
}

TEST(MemoryProperty, SingleAccessesTakeADescribedLatency) {
    const std::set<double> described{30, 80, 200, 250, 400, 450};
    for (std::uint64_t seed = 0; seed < kRandomCases; ++seed) {
        RandomSource random(seed);
        Rig rig(random_machine(random));
        double now = 0;
        for (int i = 0; i < 1000; ++i) {  // back to back, so that queues hold only what the chain itself leaves
            const std::uint64_t address = random.below(1 << 13) / 4 * 4;
            const double done = rig.memory->access(
                {.address = address, .bytes = 4, .sm = static_cast<std::uint32_t>(random.below(6))}, now);
            ASSERT_TRUE(described.contains(done - now)) << "seed " << seed << ", access " << i << ": " << done - now;
            now = done;
        }
    }
}

TEST(MemoryProperty, AccessesAreNeverFasterThanTheirLevelAndHitsDoNotDependOnTime) {
    for (std::uint64_t seed = 0; seed < kRandomCases; ++seed) {
        RandomSource random(seed);
        const auto m = random_machine(random);
        Rig dense(m), sparse(m);
        double now = 0;
        for (int i = 0; i < 2000; ++i) {
            now += static_cast<double>(random.below(3));
            Transaction t{.address = random.below(1 << 15) / 32 * 32,
                          .bytes = 32,
                          .sm = static_cast<std::uint32_t>(random.below(6))};
            const auto kind = random.below(8);
            if (kind == 0) t.kind = AccessKind::store;
            if (kind == 1) t.kind = AccessKind::atomic;
            const double loaded = dense.memory->access(t, now) - now;
            const double alone = sparse.latency(t);
            ASSERT_GE(loaded, alone - 1e-6) << "seed " << seed << ", access " << i;
        }
        const auto a = dense.counters(), b = sparse.counters();
        ASSERT_EQ(a.cache_hits, b.cache_hits) << "seed " << seed;
        ASSERT_EQ(a.cache_misses, b.cache_misses) << "seed " << seed;
        ASSERT_EQ(a.dram_bytes, b.dram_bytes) << "seed " << seed;
    }
}

}  // namespace
}  // namespace gputomo::sim::test
