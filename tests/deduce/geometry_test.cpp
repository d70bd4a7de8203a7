#include "deduce/cache/geometry/geometry.hpp"
#include "caches/one_level.hpp"
#include "caches/unequal_sets.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace gputomo::deduce {
namespace {

using caches::OneLevel;
using caches::Truth;
using caches::Unequal;
using caches::UnequalSets;

CacheFindings deduce(const Truth& truth, std::uint64_t seed = 1) {
    OneLevel cache(truth, seed);
    const Chase chase = [&](const ChaseRequest& r) {
        EXPECT_TRUE(caches::visits_no_address_twice(r));
        return cache(r);
    };
    return deduce_geometry(chase, {.threshold = (truth.hit + truth.miss) / 2,
                                   .fits = truth.capacity() / 2,
                                   .overflows = truth.capacity() * 2,
                                   .buffer_bytes = truth.capacity() * 32});
}

void expect_exact(const Truth& truth, const CacheFindings& found) {
    EXPECT_EQ(found.capacity.value, static_cast<std::int64_t>(truth.capacity()));
    EXPECT_EQ(found.line.value, static_cast<std::int64_t>(truth.line));
    EXPECT_EQ(found.sector.value, static_cast<std::int64_t>(truth.sector));
    EXPECT_EQ(found.ways.value, static_cast<std::int64_t>(truth.ways));
    EXPECT_EQ(found.sets.value, static_cast<std::int64_t>(truth.sets));
    EXPECT_EQ(found.policy.name, truth.policy);
}

TEST(Geometry, FindsWongsExampleCacheOfTwelveLines) {
    expect_exact({.line = 32, .sector = 32, .ways = 3, .sets = 4},
                 deduce({.line = 32, .sector = 32, .ways = 3, .sets = 4}));
}

TEST(Geometry, FindsTheTextureL1OfTheGt200) {
    expect_exact({.line = 32, .sector = 32, .ways = 20, .sets = 8},
                 deduce({.line = 32, .sector = 32, .ways = 20, .sets = 8}));
}

TEST(Geometry, DistinguishesSectorsFromLines) {
    expect_exact({.line = 128, .sector = 32, .ways = 4, .sets = 32},
                 deduce({.line = 128, .sector = 32, .ways = 4, .sets = 32}));
}

TEST(Geometry, DistinguishesFifoAndRandomFromLru) {
    for (const auto* policy : {"fifo", "random"}) {
        const Truth truth{.line = 64, .sector = 64, .ways = 8, .sets = 16, .policy = policy};
        expect_exact(truth, deduce(truth));
    }
}

TEST(Geometry, FindsSetsThatAreNoPowerOfTwo) {
    expect_exact({.line = 64, .sector = 64, .ways = 5, .sets = 12},
                 deduce({.line = 64, .sector = 64, .ways = 5, .sets = 12}));
}

TEST(Geometry, FindsOneSetInAFullyAssociativeCache) {
    expect_exact({.line = 64, .sector = 64, .ways = 16, .sets = 1},
                 deduce({.line = 64, .sector = 64, .ways = 16, .sets = 1}));
}

/// A chase whose own code is read with each load. Arrays that start at offset 0 contain it; other loads lie after it.
CacheFindings deduce_beside_code(const Truth& truth, std::uint64_t code) {
    OneLevel cache(truth, 1);
    const Chase chase = [&](const ChaseRequest& r) {
        const bool dense = r.offsets.size() > 1 && r.offsets[0] == 0 && r.offsets[1] <= 2 * code;
        ChaseRequest all{{}, r.warm_passes, r.recorded_passes};
        for (const auto offset : r.offsets) {
            for (std::uint64_t at = 0; at < code; at += truth.line) all.offsets.push_back(at);
            all.offsets.push_back(offset + (dense ? 0 : code));
        }
        const auto both = cache(all).latencies;
        ChaseTrace trace;
        for (std::size_t i = 1; i <= r.offsets.size() * r.recorded_passes; ++i)
            trace.latencies.push_back(both[i * (1 + (code + truth.line - 1) / truth.line) - 1]);
        return trace;
    };
    return deduce_geometry(chase, {.threshold = (truth.hit + truth.miss) / 2,
                                   .fits = truth.capacity() / 2,
                                   .overflows = truth.capacity() * 2,
                                   .buffer_bytes = truth.capacity() * 8,
                                   .word = 64,
                                   .code_bytes = code});
}

TEST(Geometry, CountsTheWaysThatTheChasesOwnCodeOccupies) {
    for (const auto& truth : {Truth{.line = 256, .sector = 256, .ways = 32, .sets = 1},
                              Truth{.line = 128, .sector = 128, .ways = 16, .sets = 2},
                              Truth{.line = 128, .sector = 128, .ways = 6, .sets = 8}}) {
        SCOPED_TRACE(truth.sets);
        const auto found = deduce_beside_code(truth, 256);
        EXPECT_EQ(found.capacity.value, static_cast<std::int64_t>(truth.capacity()));
        EXPECT_EQ(found.ways.value, static_cast<std::int64_t>(truth.ways));
        EXPECT_EQ(found.sets.value, static_cast<std::int64_t>(truth.sets));
        EXPECT_EQ(found.policy.name, "lru");
    }
}

TEST(Geometry, RecoversRandomCachesDespiteOutliersAndIsNeverSurelyWrong) {
    std::mt19937_64 random(7);
    const auto pick = [&](std::vector<std::uint64_t> values) { return values[random() % values.size()]; };
    int exact = 0, wrong_but_sure = 0;
    constexpr int kCaches = 16;
    for (int i = 0; i < kCaches; ++i) {
        Truth truth{.line = pick({32, 64, 128, 256}),
                    .ways = 1 + random() % 20,
                    .sets = pick({1, 4, 8, 16, 24, 32, 64, 96}),
                    .policy = random() % 4 == 0 ? "fifo" : "lru",
                    .outliers = 0.01,
                    .jitter = 4};
        truth.sector = random() % 3 == 0 ? 32 : truth.line;
        if (truth.ways == 1) truth.policy = "lru";
        const auto found = deduce(truth, random());
        const bool same = found.capacity.value == static_cast<std::int64_t>(truth.capacity()) &&
                          found.line.value == static_cast<std::int64_t>(truth.line) &&
                          found.ways.value == static_cast<std::int64_t>(truth.ways) &&
                          found.sets.value == static_cast<std::int64_t>(truth.sets);
        exact += same ? 1 : 0;
        for (const auto& [finding, value] : {std::pair{found.capacity, truth.capacity()},
                                             {found.line, truth.line},
                                             {found.ways, truth.ways},
                                             {found.sets, truth.sets},
                                             {found.sector, truth.sector}})
            if (finding.confidence > 0.95 && finding.value != static_cast<std::int64_t>(value)) ++wrong_but_sure;
        EXPECT_TRUE(same || found.capacity.confidence <= 0.95)
            << "cache " << i << ": " << (found.remarks.empty() ? "" : found.remarks.back());
    }
    EXPECT_GE(exact, kCaches - 1);
    EXPECT_EQ(wrong_but_sure, 0);
}

TEST(Geometry, ReportsNoSectorOfAWindowThatWasNotEvicted) {
    // Two words miss for another reason, and nothing else of the window does.
    const auto chase = [](const ChaseRequest& request) {
        ChaseTrace trace;
        for (std::uint32_t pass = 0; pass < request.recorded_passes; ++pass)
            for (const auto offset : request.offsets)
                trace.latencies.push_back(offset == 640 || offset == 1216 || offset >= 8192 ? 300 : 100);
        return trace;
    };
    const auto found =
        deduce_geometry(chase, {.threshold = 200, .fits = 16384, .overflows = 32768, .buffer_bytes = 262144});
    EXPECT_EQ(found.sector.confidence, 0);
}

TEST(Geometry, LeavesANonlinearHashOpen) {
    const Truth truth{.line = 64, .sector = 64, .ways = 8, .sets = 64, .hashed = true};
    const auto found = deduce(truth);
    EXPECT_EQ(found.sector.value, 64);
    EXPECT_EQ(found.ways.confidence, 0);
    EXPECT_LE(found.capacity.confidence, 0.5) << "an interval";
    EXPECT_LE(found.capacity.bracket[0], static_cast<std::int64_t>(truth.capacity()));
    EXPECT_GE(found.capacity.bracket[1], static_cast<std::int64_t>(truth.capacity()));
}

TEST(Geometry, DistinguishesOneRandomSetOfManyWaysFromAHash) {
    // The L1 of Hopper may be like this.
    const Truth truth{.line = 128, .sector = 32, .ways = 200, .sets = 1, .policy = "random", .hit = 32, .miss = 280};
    expect_exact(truth, deduce(truth));
}

TEST(Geometry, FindsSetsOfALargeRandomCacheByConflictingLines) {
    const Truth truth{.line = 64, .sector = 64, .ways = 12, .sets = 512, .policy = "random"};
    expect_exact(truth, deduce(truth));
}

CacheFindings deduce_filtered(const Unequal& truth) {
    UnequalSets sets(truth);
    constexpr std::uint64_t kLine = UnequalSets::kLine;
    return deduce_geometry([&](const ChaseRequest& request) { return sets(request); },
                           {.threshold = (UnequalSets::kHit + UnequalSets::kMiss) / 2,
                            .fits = sets.lines() / 2 * kLine,
                            .overflows = sets.lines() * 4 * kLine,
                            .buffer_bytes = sets.lines() * 16 * kLine,
                            .word = 64,
                            .probe_stride = kLine,
                            .filtered = true});
}

TEST(UnequalSetsBelowAFilteringLevel, AreFoundWithGrowingArrays) {
    // The L2 TLB of Mei 2014, Figs. 10 and 11, and sets chosen by modulo, wherever the array begins.
    for (const bool dealt : {true, false})
        for (const std::uint64_t first : {0, 30, 55, 1000}) {
            const auto found =
                deduce_filtered({.ways = {17, 8, 8, 8, 8, 8, 8}, .dealt = dealt, .first = first, .outliers = 0.01});
            EXPECT_EQ(found.set_ways, (std::vector<std::int64_t>{17, 8, 8, 8, 8, 8, 8})) << dealt << ", from " << first;
            EXPECT_EQ(found.capacity.value, 65 * 1024);
            EXPECT_EQ(found.line.value, 1024);
            EXPECT_GT(found.sets.confidence, 0.95);
            EXPECT_EQ(found.policy.name, "lru");
        }
}

TEST(UnequalSetsBelowAFilteringLevel, AreRightOrLeftOpen) {
    std::mt19937_64 random(11);
    int exact_lru = 0, tried_lru = 0;
    constexpr int kTried = 20;
    for (int i = 0; i < kTried; ++i) {
        Unequal truth{.dealt = random() % 2 == 0, .fifo = random() % 2 == 0, .first = random() % 500, .outliers = 0.01};
        for (std::uint64_t sets = 2 + random() % 6; sets > 0; --sets) truth.ways.push_back(2 + random() % 12);
        auto found = deduce_filtered(truth);
        std::sort(truth.ways.begin(), truth.ways.end(), std::greater<>());
        tried_lru += truth.fifo ? 0 : 1;
        if (found.sets.confidence == 0) continue;
        if (found.set_ways.empty()) found.set_ways.assign(static_cast<std::size_t>(found.sets.value), found.ways.value);
        EXPECT_TRUE(std::ranges::equal(found.set_ways, truth.ways)) << "case " << i;
        exact_lru += std::ranges::equal(found.set_ways, truth.ways) && !truth.fifo ? 1 : 0;
    }
    EXPECT_GE(exact_lru, tried_lru * 9 / 10);
    EXPECT_GT(tried_lru, kTried / 4);
}

TEST(UnequalSetsBelowAFilteringLevel, AreNotReportedAsEqualOnes) {
    // A large set and many small ones, in arrays that begin anywhere: the overflow past the capacity may show the
    // distances of a few equal sets.
    for (std::size_t small = 5; small <= 12; ++small)
        for (const std::size_t large : {6, 7, 9, 10})
            for (const std::uint64_t first : {0, 7, 20, 33}) {
                Unequal truth{.dealt = true, .fifo = true, .first = first};
                truth.ways.assign(small, 4);
                truth.ways.front() = large;
                const auto found = deduce_filtered(truth);
                EXPECT_TRUE(found.sets.confidence == 0 || found.set_ways.size() == small)
                    << large << " and " << small - 1 << " of 4 from " << first << ": " << found.sets.value;
            }
    const auto equal = deduce_filtered({.ways = std::vector<std::size_t>(12, 4), .fifo = true, .outliers = 0.01});
    EXPECT_EQ(equal.sets.value, 12);
    EXPECT_EQ(equal.ways.value, 4);
    EXPECT_GT(equal.sets.confidence, 0.9);
}

}  // namespace
}  // namespace gputomo::deduce
