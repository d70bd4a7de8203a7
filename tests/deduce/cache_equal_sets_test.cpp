// Equal sets from contiguous arrays.
#include "deduce/cache/arrays/equal_sets.hpp"

#include "caches/simulated_cache.hpp"

#include <gtest/gtest.h>

namespace gputomo::deduce::cache {
namespace {

using testing::CacheTruth;
using testing::SimulatedCache;

EqualSetsResult search(const CacheTruth& truth) {
    SimulatedCache cache(truth);
    const auto chase = cache.chase();
    const auto probe = Probe(chase, truth.question()).with_sector(truth.sector).over_whole_buffer();
    return find_equal_sets(probe, truth.sector);
}

TEST(EqualSets, AreFoundExactly) {
    for (const auto& truth :
         {CacheTruth{.line = 64, .sets = 16, .ways = 4}, CacheTruth{.line = 128, .sector = 32, .sets = 12, .ways = 5},
          CacheTruth{.line = 32, .sector = 32, .sets = 64, .ways = 2, .policy = "fifo"},
          CacheTruth{.line = 64, .sets = 1, .ways = 24}}) {
        const auto found = search(truth);
        ASSERT_TRUE(found.sets) << found.why;
        EXPECT_EQ(found.sets->sets, truth.sets);
        EXPECT_EQ(found.sets->ways, truth.ways);
        EXPECT_EQ(found.sets->line, truth.line);
        EXPECT_EQ(found.capacity.fits, truth.capacity());
        EXPECT_EQ(found.capacity.overflow, truth.capacity() + truth.sector);
    }
}

TEST(EqualSets, OfARandomPolicyShowByConflictingLines) {
    const CacheTruth truth{.sets = 32, .ways = 6, .policy = "random"};
    const auto found = search(truth);
    ASSERT_TRUE(found.sets) << found.why;
    EXPECT_EQ(found.sets->sets, 32U);
    EXPECT_EQ(found.sets->ways, 6U);
}

TEST(EqualSets, AreNotClaimedOfAHash) {
    const CacheTruth truth{.set_of = [](std::uint64_t n) { return (n * 0x9E3779B97F4A7C15ULL >> 40) % 16; }};
    const auto found = search(truth);
    EXPECT_FALSE(found.sets);
    EXPECT_FALSE(found.why.empty());
    EXPECT_GT(found.capacity.fits, 0U);
    EXPECT_LE(found.capacity.fits, truth.capacity());
    EXPECT_GT(found.capacity.overflows, found.capacity.fits);
}

}  // namespace
}  // namespace gputomo::deduce::cache
