// Eviction sets of caches whose sets are known.
#include "deduce/cache/sets/eviction_set.hpp"

#include "caches/simulated_cache.hpp"

#include <gtest/gtest.h>

#include <optional>

namespace gputomo::deduce::cache {
namespace {

using testing::CacheTruth;
using testing::SimulatedCache;

/// XORs of line-number bits choose one of 16 sets.
CacheTruth hashed(std::uint32_t ways) {
    return {.ways = ways, .set_of = [](std::uint64_t n) { return (n ^ n >> 4 ^ n >> 7) % 16; }};
}

void expect_minimal(const std::optional<EvictionSet>& found, const CacheTruth& truth) {
    ASSERT_TRUE(found);
    EXPECT_EQ(found->ways(), truth.ways);
    for (const auto offset : found->lines) EXPECT_EQ(truth.index_of(offset), truth.index_of(found->lines.front()));
}

TEST(EvictionSet, LinesAtEqualDistancesShowSetsByModulo) {
    for (const std::uint32_t ways : {2U, 4U, 7U}) {
        const CacheTruth truth{.ways = ways};
        SimulatedCache cache(truth);
        const auto chase = cache.chase();
        expect_minimal(find_eviction_set(Probe(chase, truth.question()), 64), truth);
    }
}

TEST(EvictionSet, RandomLinesShowHashedSets) {
    const auto truth = hashed(4);
    SimulatedCache cache(truth);
    const auto chase = cache.chase();
    expect_minimal(find_eviction_set_at_random(Probe(chase, truth.question()), 64, 48), truth);
}

TEST(EvictionSet, AnArrayShowsTheFirstUnequalSetThatOverflows) {
    const CacheTruth truth{.sets = 3, .ways = 8, .set_ways = {9, 4, 8}};
    SimulatedCache cache(truth);
    const auto chase = cache.chase();
    const Probe probe(chase, {.threshold = 200, .fits = 512, .overflows = 4096, .buffer_bytes = 65536});
    const auto found = find_eviction_set_in_array(probe, 64, 512);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->ways(), 4U);
    for (const auto offset : found->lines) EXPECT_EQ(truth.index_of(offset), 1U);
}

TEST(EvictionSet, LinesOfOtherSetsAreLeftOut) {
    const auto truth = hashed(3);
    SimulatedCache cache(truth);
    const auto chase = cache.chase();
    Offsets lines;
    for (std::uint64_t n = 0; lines.size() < 20; ++n)
        if (truth.set_of(n) == 5 ? std::ranges::count(lines, 5U, [&](auto o) { return truth.index_of(o); }) < 4 : true)
            lines.push_back(n * truth.line);
    // Among 20 lines in a row at most two are of any other set.
    while (std::ranges::count(lines, 5U, [&](auto o) { return truth.index_of(o); }) < 4) {
        std::uint64_t n = lines.back() / truth.line + 1;
        while (truth.set_of(n) != 5) ++n;
        lines.push_back(n * truth.line);
    }
    const auto kept = minimal_eviction_set(Probe(chase, truth.question()), lines);
    ASSERT_EQ(kept.size(), 4U);
    for (const auto offset : kept) EXPECT_EQ(truth.index_of(offset), 5U);
}

TEST(EvictionSet, NothingIsFoundWhereAllLinesFit) {
    const CacheTruth truth;
    SimulatedCache large({.sets = 4096});
    const auto chase = large.chase();
    const Probe probe(chase, truth.question());
    EXPECT_FALSE(find_eviction_set(probe, 64));
    EXPECT_FALSE(find_eviction_set_at_random(probe, 64, 48));
}

}  // namespace
}  // namespace gputomo::deduce::cache
