// Behaviours 670 to 679: ending the simulation of a launch within its blocks, alone.
#include "sim/sm/sampling/launch_cut.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace gputomo::sim {
namespace {

constexpr std::uint64_t kFirstLook = 12'000;

SamplingPlan plan_with(std::optional<BlockWork> work, int* asked = nullptr) {
    return {.above = kFirstLook, .block_work = [work, asked] {
                if (asked != nullptr) ++*asked;
                return work;
            }};
}

/// Simulates up to `instructions`. `issued_of` says how many of them were of each place in the code, and `cycles_of`
/// how long they took. Returns the estimate, and how many were simulated by then.
struct Ended {
    std::optional<LaunchEstimate> estimate;
    std::uint64_t instructions = 0;
};
Ended simulated(LaunchCut& cut, std::uint64_t instructions,
                const std::function<std::vector<std::uint64_t>(std::uint64_t)>& issued_of,
                const std::function<double(std::uint64_t)>& cycles_of) {
    for (std::uint64_t done = 0; done < instructions; done += 100) {
        if (!cut.decides_at(done)) continue;
        Costs spent(kFirstCounter + 1);
        spent[kCycles] = cycles_of(done);
        spent[kInstructions] = static_cast<double>(done);
        spent[kFirstCounter] = 3.0 * static_cast<double>(done);
        if (auto estimate = cut.look(spent, issued_of(done))) return {estimate, done};
    }
    return {{}, instructions};
}

std::vector<std::uint64_t> issued_in_loop(std::uint64_t done) { return {100, done - 100}; }
double two_cycles_each(std::uint64_t done) { return 500 + 2 * static_cast<double>(done); }

TEST(LaunchCut671, WhatIsLeftCostsAsMuchAsTheLastPart) {
    LaunchCut cut(plan_with(BlockWork{.executed = {1, 1999}}), {.blocks = 100, .sms = 10, .blocks_of_sm = 10},
                  kFirstLook);
    const auto [estimate, done] = simulated(cut, 200'000, issued_in_loop, two_cycles_each);
    ASSERT_TRUE(estimate);
    EXPECT_EQ(done, kFirstLook);
    EXPECT_NEAR(estimate->cost[kCycles], 500 + 2 * 200'000, 1e-6);
    EXPECT_EQ(estimate->cost[kInstructions], 200'000);
    EXPECT_NEAR(estimate->cost[kFirstCounter], 600'000, 1e-6);
    EXPECT_NEAR(estimate->error, 0, 1e-3);
}

TEST(LaunchCut672, APartOfAWaveTakesAsLongAsOneWhereItsBlocksAreAlone) {
    const auto cycles = [](const CutGrid& grid) {
        LaunchCut cut(plan_with(BlockWork{.executed = {1, 9999}}), grid, kFirstLook);
        const auto ended = simulated(cut, 10'000 * grid.blocks, issued_in_loop, two_cycles_each);
        return ended.estimate.value();
    };
    const auto alone = cycles({.blocks = 13, .sms = 10, .blocks_of_sm = 1});
    EXPECT_NEAR(alone.cost[kCycles], 2 * (500 + 2 * 100'000), 1);
    EXPECT_LT(alone.error, 0.01);
    // One block of two that an SM holds takes between half as long as both and as long.
    const auto half = cycles({.blocks = 25, .sms = 10, .blocks_of_sm = 2});
    EXPECT_NEAR(half.cost[kCycles], 1.75 * (500 + 2 * 200'000), 1);
    EXPECT_NEAR(half.error, 0.25 / 1.75, 0.01);
}

TEST(LaunchCut673, AnotherPhaseIsWaitedFor) {
    // The first 20,000 instructions are of the first place in the code, which costs less.
    LaunchCut cut(plan_with(BlockWork{.executed = {200, 9'800}}), {.blocks = 100, .sms = 10, .blocks_of_sm = 10},
                  kFirstLook);
    const auto [estimate, done] = simulated(
        cut, 1'000'000,
        [](std::uint64_t now) {
            const std::uint64_t first = std::min<std::uint64_t>(now, 20'000);
            return std::vector<std::uint64_t>{first, now - first};
        },
        [](std::uint64_t now) {
            return now <= 20'000 ? 1.0 * static_cast<double>(now) : 4.0 * static_cast<double>(now) - 60'000;
        });
    ASSERT_TRUE(estimate);
    EXPECT_EQ(done, 4 * kFirstLook);
    EXPECT_NEAR(estimate->cost[kCycles], 4 * 1'000'000 - 60'000, 1e-3);
}

TEST(LaunchCut674, UnevenBlocksAndShortLaunchesAreSimulatedWhole) {
    const CutGrid grid{.blocks = 100, .sms = 10, .blocks_of_sm = 10};
    LaunchCut uneven(plan_with(BlockWork{.executed = {1, 1999}, .spread = 0.2}), grid, kFirstLook);
    EXPECT_FALSE(simulated(uneven, 200'000, issued_in_loop, two_cycles_each).estimate);
    SamplingPlan of_longer = plan_with(BlockWork{.executed = {1, 1999}});
    of_longer.above = 200'000;
    LaunchCut short_one(of_longer, grid, kFirstLook);
    EXPECT_FALSE(simulated(short_one, 200'000, issued_in_loop, two_cycles_each).estimate) << "it is not to be sampled";
    LaunchCut rest_is_short(plan_with(BlockWork{.executed = {1, 199}}), grid, kFirstLook);
    EXPECT_FALSE(simulated(rest_is_short, 20'000, issued_in_loop, two_cycles_each).estimate);
}

TEST(LaunchCut675, UnsteadyCostsWidenTheInterval) {
    LaunchCut cut(plan_with(BlockWork{.executed = {1, 1999}}), {.blocks = 100, .sms = 10, .blocks_of_sm = 10},
                  kFirstLook);
    const auto ended = simulated(cut, 200'000, issued_in_loop, [](std::uint64_t done) {
        return 2 * static_cast<double>(done) + (done / 1000 % 2 == 0 ? 400.0 : 0.0);
    });
    ASSERT_TRUE(ended.estimate);
    EXPECT_GT(ended.estimate->error, 0.1);
}

TEST(LaunchCut676, WorkThatDependsOnOthersIsAskedForOnce) {
    int asked = 0;
    LaunchCut cut(plan_with(std::nullopt, &asked), {.blocks = 100, .sms = 10, .blocks_of_sm = 10}, kFirstLook);
    EXPECT_FALSE(simulated(cut, 200'000, issued_in_loop, two_cycles_each).estimate);
    EXPECT_EQ(asked, 1);
    LaunchCut without({.above = kFirstLook}, {.blocks = 100, .sms = 10, .blocks_of_sm = 10}, kFirstLook);
    EXPECT_FALSE(without.decides_at(1'000'000));
}

}  // namespace
}  // namespace gputomo::sim
