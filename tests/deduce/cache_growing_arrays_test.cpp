// Unequal sets from arrays that grow line by line.
#include "deduce/cache/sets/growing_arrays.hpp"

#include "caches/simulated_cache.hpp"

#include <gtest/gtest.h>

namespace gputomo::deduce::cache {
namespace {

using testing::CacheTruth;
using testing::SimulatedCache;

GrowingArraysResult grow(const CacheTruth& truth) {
    SimulatedCache cache(truth);
    const auto chase = cache.chase();
    const Probe probe(chase, {.threshold = 200, .fits = 512, .overflows = 8192, .buffer_bytes = 65536});
    return find_sets_by_growing_arrays(probe.over_whole_buffer(), truth.line, 10 * truth.line);
}

TEST(GrowingArrays, ShowUnequalSetsOfLru) {
    const CacheTruth truth{.sets = 3, .ways = 9, .set_ways = {4, 9, 6}};
    const auto grown = grow(truth);
    ASSERT_TRUE(grown.found) << grown.why;
    EXPECT_EQ(grown.found->ways(), (std::vector<std::uint64_t>{9, 6, 4}));
    for (const auto& set : grown.found->sets)
        for (const auto offset : set) EXPECT_EQ(truth.index_of(offset), truth.index_of(set.front()));
    EXPECT_EQ(grown.found->trials.agreed, grown.found->trials.made);
}

TEST(GrowingArrays, FillerIsResidentBesideTheLargestSet) {
    const GrownSets grown{{{0, 3, 6, 9}, {1, 4, 7}, {2, 5}}, {}};
    EXPECT_EQ(grown.ways(), (std::vector<std::uint64_t>{3, 2, 1}));
    EXPECT_EQ(grown.filler(), (Offsets{1, 4, 2}));
}

TEST(GrowingArrays, ARandomPolicyIsNotExplained) {
    const auto grown = grow({.sets = 3, .ways = 9, .policy = "random", .set_ways = {4, 9, 6}});
    EXPECT_FALSE(grown.found);
    EXPECT_FALSE(grown.why.empty());
}

TEST(GrowingArrays, ArraysTooLongForThatAreRefusedWithoutALoad) {
    SimulatedCache cache(CacheTruth{});
    const auto chase = cache.chase();
    const Probe probe(chase, {.threshold = 200, .buffer_bytes = std::uint64_t{1} << 20});
    EXPECT_FALSE(find_sets_by_growing_arrays(probe, 64, 64 * 300).found);
    EXPECT_EQ(cache.loads, 0U);
}

}  // namespace
}  // namespace gputomo::deduce::cache
