// Outliers in the traces of sets that repeat themselves.
#include "deduce/cache/traces/remove_outliers.hpp"

#include "caches/simulated_cache.hpp"

#include <gtest/gtest.h>

namespace gputomo::deduce::cache {
namespace {

constexpr std::uint32_t kWays = 4;
constexpr std::size_t kPass = 20;

/// `passes` passes over one random order of 20 loads.
TraceSegment periodic(const std::string& policy, std::size_t passes) {
    const auto order = testing::random_lines(kWays, kPass);
    std::vector<std::uint32_t> lines;
    for (std::size_t p = 0; p < passes; ++p) lines.insert(lines.end(), order.begin(), order.end());
    return testing::trace_of(*testing::policy_model(policy, kWays), kWays, lines);
}

TEST(RemoveOutliers, RestoresTheTraceOfADeterministicSet) {
    const auto truth = periodic("lru", 60);
    auto noisy = truth;
    int added = 0;
    for (std::size_t i = 7; i < noisy.missed.size(); i += 97) {
        added += noisy.missed[i] ? 0 : 1;
        noisy.missed[i] = true;
    }
    ASSERT_GT(added, 4);
    remove_outliers(noisy, kPass, 0.01);
    EXPECT_TRUE(noisy.periodic);
    EXPECT_LE(noisy.periodic_from, noisy.missed.size() / 2);
    for (std::size_t i = noisy.periodic_from; i < truth.missed.size(); ++i)
        EXPECT_EQ(noisy.missed[i], truth.missed[i]) << "load " << i;
}

TEST(RemoveOutliers, LeavesARandomSetAsItIs) {
    const auto truth = periodic("random", 60);
    auto same = truth;
    remove_outliers(same, kPass, 0.01);
    EXPECT_FALSE(same.periodic);
    EXPECT_EQ(same.missed, truth.missed);
}

TEST(RemoveOutliers, ATraceOfOnePassHasNoPeriod) {
    auto segment = periodic("lru", 1);
    remove_outliers(segment, kPass, 0.01);
    EXPECT_FALSE(segment.periodic);
}

TEST(RepeatCount, CountsSlowLoadsOfBothAndOfEither) {
    RepeatCount repeats;
    repeats.count(true, true);
    repeats.count(true, false);
    repeats.count(false, true);
    repeats.count(false, false);
    EXPECT_EQ(repeats.both, 1U);
    EXPECT_EQ(repeats.either, 3U);
}

}  // namespace
}  // namespace gputomo::deduce::cache
