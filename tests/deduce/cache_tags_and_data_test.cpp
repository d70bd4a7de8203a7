// Caches with tags for more lines than they have data for.
#include "deduce/cache/sets/tags_and_data.hpp"

#include "caches/simulated_cache.hpp"

#include <gtest/gtest.h>

namespace gputomo::deduce::cache {
namespace {

using testing::CacheTruth;
using testing::SimulatedCache;

/// 16 sets of 4 ways of 64 bytes: tags for 4096 bytes.
const Index kIndex = Index::modulo(16, 64, 0, 65536);
const std::vector<std::uint64_t> kTagWays(16, 4);

TEST(TagsAndData, AnArrayThatOverflowsBeforeItsSetsDoHasTooFewData) {
    EXPECT_TRUE(overflows_before_sets_do(kIndex, kTagWays, {.fits = 3072, .overflows = 3136, .overflow = 3136}, 0));
    EXPECT_FALSE(overflows_before_sets_do(kIndex, kTagWays, {.fits = 4096, .overflows = 4160, .overflow = 4160}, 0));
}

TEST(TagsAndData, NothingFollowsFromAnArrayThatWasOnlyBracketedOrFromUnequalSets) {
    EXPECT_FALSE(overflows_before_sets_do(kIndex, kTagWays, {.fits = 2048, .overflows = 3136, .overflow = 0}, 0));
    auto unequal = kTagWays;
    unequal[3] = 5;
    EXPECT_FALSE(overflows_before_sets_do(kIndex, unequal, {.fits = 3072, .overflows = 3136, .overflow = 3136}, 0));
}

bool lack_data(std::uint64_t data_lines) {
    const CacheTruth truth{.data_lines = data_lines};
    SimulatedCache cache(truth);
    const auto chase = cache.chase();
    const auto probe = Probe(chase, truth.question()).with_sector(64);
    return full_sets_lack_data(probe, kIndex, kTagWays, {.fits = 48 * 64, .overflows = 49 * 64, .overflow = 49 * 64});
}

TEST(TagsAndData, FullSetsMissOnlyWhereDataAreLacking) {
    EXPECT_TRUE(lack_data(48));
    EXPECT_FALSE(lack_data(0));
    EXPECT_FALSE(lack_data(64)) << "data for all tags";
    EXPECT_FALSE(lack_data(8)) << "even a few sets miss: data is not what the array was short of";
}

}  // namespace
}  // namespace gputomo::deduce::cache
