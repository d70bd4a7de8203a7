// Periodicity and age of victims, without assuming a policy.
#include "deduce/cache/policy/trace_statistics.hpp"

#include "caches/simulated_cache.hpp"

#include <gtest/gtest.h>

namespace gputomo::deduce::cache {
namespace {

constexpr std::uint32_t kTracedWays = 8;

PolicyRun passes_of(const std::string& policy, std::size_t pass_loads, std::size_t passes) {
    const auto order = testing::random_lines(kTracedWays, pass_loads);
    std::vector<std::uint32_t> lines;
    for (std::size_t p = 0; p < passes; ++p) lines.insert(lines.end(), order.begin(), order.end());
    return {{testing::trace_of(*testing::policy_model(policy, kTracedWays), kTracedWays, lines)}, pass_loads};
}

TEST(TraceStatistics, ADeterministicSetRepeatsNearlyAllItsMisses) {
    EXPECT_GT(periodic_share({passes_of("lru", 40, 100)}), 0.97) << "all but those of the first passes";
}

TEST(TraceStatistics, ARandomSetRepeatsFew) { EXPECT_LT(periodic_share({passes_of("random", 40, 100)}), 0.5); }

TEST(TraceStatistics, LoadsThatNoMissExplainsAreNotCounted) {
    auto run = passes_of("lru", 40, 100);
    run.segments[0].outlier = run.segments[0].missed;
    EXPECT_EQ(periodic_share({run}), 0);
}

TEST(TraceStatistics, TooFewMissesHaveNoPeriod) {
    TraceSegment segment;
    for (int i = 0; i < 20; ++i) {
        segment.lines.push_back(0);
        segment.missed.push_back(i % 10 == 0);
        segment.outlier.push_back(false);
    }
    EXPECT_EQ(periodic_share({{{segment}, 10}}), 0);
}

TEST(TraceStatistics, TheAgeBiasIsHalfForLruAndNoneForChance) {
    const auto run_of = [](const std::string& policy) {
        return PolicyRun{{testing::trace_of(*testing::policy_model(policy, kTracedWays), kTracedWays,
                                            testing::random_lines(kTracedWays, 8000))},
                         8000};
    };
    EXPECT_NEAR(age_bias({run_of("lru")}, kTracedWays, 0.0001), 0.5, 0.01);
    EXPECT_NEAR(age_bias({run_of("random")}, kTracedWays, 0.0001), 0, 0.03);
    EXPECT_EQ(age_bias({}, kTracedWays, 0.0001), 0);
}

}  // namespace
}  // namespace gputomo::deduce::cache
