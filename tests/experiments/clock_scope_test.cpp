#include "experiments/clock/clock_scope.hpp"

#include <gtest/gtest.h>

namespace gputomo::experiments {
namespace {

std::string scope_of(const std::vector<BlockStart>& starts) {
    const auto estimates = clock_scope_estimates(clock_groups(starts));
    EXPECT_EQ(estimates.at(0).path, "clock.scope");
    return estimates[0].knowledge == results::Knowledge::known ? std::get<std::string>(estimates[0].value)
                                                               : "undecided";
}

TEST(ClockScopeTest, SmsThatReadAlikeShareARegister) {
    // The counters of three TPCs of three SMs, one of them about to wrap.
    const std::vector<BlockStart> starts = {{0, 1000},         {1, 1010},         {2, 1030},
                                            {3, 500'000},      {4, 500'040},      {5, 500'001},
                                            {6, 0xffff'0000U}, {7, 0xffff'0010U}, {8, 0xffff'0020U}};
    EXPECT_EQ(scope_of(starts), "tpc");
    EXPECT_EQ(std::get<std::int64_t>(clock_scope_estimates(clock_groups(starts)).at(1).value), 3);
}

TEST(ClockScopeTest, OneGroupIsTheWholeGpuAndSingleSmsHaveTheirOwn) {
    EXPECT_EQ(scope_of({{0, 5}, {1, 0xffff'fff0U}, {2, 40}}), "gpu");
    EXPECT_EQ(scope_of({{0, 5}, {1, 1'000'000}, {2, 9'000'000}}), "sm");
}

TEST(ClockScopeTest, ClustersOfUnequalSizeAreAsLargeAsTheLargest) {
    std::vector<BlockStart> starts;
    for (std::uint32_t sm = 0; sm < 34; ++sm) starts.push_back({sm, sm < 18 ? 1000 + sm : 70'000 + sm});
    EXPECT_EQ(scope_of(starts), "gpc");
    const auto estimates = clock_scope_estimates(clock_groups(starts));
    EXPECT_EQ(estimates.at(1).path, "topology.sms_per_gpc");
    EXPECT_EQ(std::get<std::int64_t>(estimates.at(1).value), 18);
    for (std::uint32_t sm = 34; sm < 70; ++sm) starts.push_back({sm, 200'000 + sm});
    EXPECT_EQ(clock_scope_estimates(clock_groups(starts)).size(), 1U)
        << "one group is as large as two others: two clusters may read alike";
}

TEST(ClockScopeTest, UnequalGroupsDecideNothing) { EXPECT_EQ(scope_of({{0, 5}, {1, 6}, {2, 9'000'000}}), "undecided"); }

}  // namespace
}  // namespace gputomo::experiments
