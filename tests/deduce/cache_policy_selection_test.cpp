// Which policy explains runs best.
#include "deduce/cache/policy/policy_selection.hpp"

#include "caches/simulated_cache.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace gputomo::deduce::cache {
namespace {

std::vector<PolicyRun> runs_of(const std::string& policy, std::uint32_t ways, std::size_t count, std::size_t loads) {
    std::vector<PolicyRun> runs;
    for (std::size_t r = 0; r < count; ++r)
        runs.push_back({{testing::trace_of(*testing::policy_model(policy, ways), ways,
                                           testing::random_lines(ways, loads, r + 1), r + 1)},
                        loads});
    return runs;
}

TEST(PolicySelection, RanksThePolicyOfTheRunsFirst) {
    for (const std::string policy : {"lru", "fifo", "bit-plru", "nru", "srrip", "slru", "tree-plru", "random"}) {
        PolicySelection selection(4);
        selection.update(runs_of(policy, 4, 6, 800), 0, 0.001);
        EXPECT_EQ(selection.ranking().front().name, policy);
        EXPECT_GT(selection.ranking()[1].deficit, 5) << policy;
        EXPECT_GT(selection.confidence(), policy == kChance ? 0.5 : 0.8) << policy;
    }
}

TEST(PolicySelection, ARejectedPolicyExplainsNoFurtherRuns) {
    auto runs = runs_of("lru", 4, 2, 800);
    PolicySelection selection(4);
    selection.update(runs, 6, 0.001);
    const auto more = runs_of("lru", 4, 6, 800);
    runs.insert(runs.end(), more.begin() + 2, more.end());
    selection.update(runs, 0, 0.001);
    EXPECT_EQ(selection.ranking().front().by_run.size(), 6U);
    const auto fifo = std::ranges::find(selection.ranking(), "fifo", &PolicyScore::name);
    ASSERT_NE(fifo, selection.ranking().end());
    EXPECT_LT(fifo->by_run.size(), 6U);
    EXPECT_LT(fifo->share(), 0.9);
}

TEST(PolicySelection, WithTwoWaysEquivalentPoliciesAreOneCandidate) {
    PolicySelection selection(2);
    selection.update(runs_of("lru", 2, 3, 300), 0, 0.001);
    EXPECT_EQ(selection.ranking().front().name, "lru");
    for (const auto* other : {"tree-plru", "bit-plru"})
        EXPECT_EQ(std::ranges::count(selection.ranking(), other, &PolicyScore::name), 0) << other;
}

TEST(PolicySelection, ATreeStaysPossibleOnlyWhileItMayBeLearnt) {
    PolicySelection tree(8), lru(8);
    tree.update(runs_of("tree-plru", 8, 6, 1500), 6, 0.001);
    EXPECT_TRUE(tree.may_be_tree());
    lru.update(runs_of("lru", 8, 6, 3000), 0, 0.001);
    EXPECT_FALSE(lru.may_be_tree());
}

}  // namespace
}  // namespace gputomo::deduce::cache
