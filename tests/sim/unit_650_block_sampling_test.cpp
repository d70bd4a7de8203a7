// Behaviours 650 to 699: the choice of sampled blocks and the estimate from them, alone.
#include "sim/sm/sampling/block_sampling.hpp"
#include "sim/sm/sampling/sampling_estimate.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

namespace gputomo::sim {
namespace {

/// Ten blocks from `first` on, which cost `cycles` each.
SampledWindow ten_blocks(std::uint64_t first, double cycles) {
    return {.first = first,
            .last = first + 10,
            .cost = {10 * cycles, 50},
            .middle = static_cast<double>(first) + 5,
            .per_block = {cycles, 5}};
}

TEST(SamplingEstimate651, BlocksBetweenTwoWindowsCostTheMeanOfBoth) {
    const auto whole = estimate(std::vector{ten_blocks(0, 100), ten_blocks(30, 200)}, 40);
    EXPECT_DOUBLE_EQ(whole.cost[kCycles], 1000 + 20 * 150 + 2000);
    EXPECT_DOUBLE_EQ(whole.cost[kInstructions], 200);
    EXPECT_EQ(whole.error, 1) << "two windows give no interval";
}

TEST(SamplingEstimate652, BlocksBehindTheLastWindowCostAsMuchAsItsOwn) {
    EXPECT_DOUBLE_EQ(estimate(std::vector{ten_blocks(0, 100)}, 20).cost[kCycles], 2000);
}

TEST(SamplingEstimate653, SteadyGrowthLeavesNoError) {
    const auto whole = estimate(std::vector{ten_blocks(0, 100), ten_blocks(45, 145), ten_blocks(90, 190)}, 100);
    EXPECT_NEAR(whole.error, 0, 1e-12);
    EXPECT_DOUBLE_EQ(whole.cost[kCycles], 1000 + 35 * 122.5 + 1450 + 35 * 167.5 + 1900);
}

TEST(SamplingEstimate654, TheIntervalFollowsFromWhatNeighboursPredict) {
    const auto whole = estimate(std::vector{ten_blocks(0, 100), ten_blocks(20, 103), ten_blocks(40, 100)}, 50);
    // The one prediction is 3 cycles off. Its variance is that of a window times 1 + 1/4 + 1/4. Windows stand for 5, 10
    // and 5 blocks that were not simulated. With one degree of freedom the quantile is 12.706.
    const double sigma = std::sqrt(9 / 1.5);
    EXPECT_NEAR(whole.error, 12.706 * sigma * std::sqrt(25 + 100 + 25) / whole.cost[kCycles], 1e-12);
}

TEST(SamplingEstimate655, AWholeLaunchHasNoError) {
    const auto whole = estimate(std::vector{ten_blocks(0, 100), ten_blocks(10, 170), ten_blocks(20, 100)}, 30);
    EXPECT_DOUBLE_EQ(whole.cost[kCycles], 3700);
    EXPECT_EQ(whole.error, 0);
}

/// Starts the blocks that a sampler chooses, one after the other. Returns the started blocks and the estimate.
std::pair<std::vector<std::uint64_t>, LaunchEstimate> sampled(BlockSampler& sampler, std::uint64_t blocks,
                                                              const std::function<double(std::uint64_t)>& cycles_of) {
    std::vector<std::uint64_t> started;
    Costs spent(kFirstCounter);
    for (std::uint64_t block = 0; block < blocks; ++block) {
        if (sampler.decides_at(block)) block = sampler.next_block(block, spent);
        started.push_back(block);
        spent[kCycles] += cycles_of(block);
        spent[kInstructions] += 10;
        sampler.note_end(block, 10);
    }
    return {started, sampler.skipped() ? sampler.finish(spent) : LaunchEstimate{spent, 0}};
}

constexpr std::uint64_t kBlocks = 2004;  // 200 waves and a part of one
constexpr SampledGrid kGrid{.blocks = kBlocks, .row = kBlocks, .wave = 10};

TEST(BlockSampling661, HeadTailAndThreeWindowsSufficeForEqualBlocks) {
    BlockSampler sampler({.above = 0}, kGrid);
    const auto [started, whole] = sampled(sampler, kBlocks, [](std::uint64_t) { return 7; });
    EXPECT_EQ(started.front(), 0U);
    EXPECT_EQ(started.back(), kBlocks - 1);
    EXPECT_EQ(sampler.simulated(), started.size());
    EXPECT_LT(started.size(), kBlocks / 10);
    EXPECT_NEAR(whole.cost[kCycles], 7 * kBlocks, 1e-6);
    EXPECT_NEAR(whole.cost[kInstructions], 10 * kBlocks, 1e-6);
    EXPECT_NEAR(whole.error, 0, 1e-9);
}

TEST(BlockSampling662, SteadyGrowthIsEstimatedExactly) {
    BlockSampler sampler({.above = 0}, kGrid);
    const auto [started, whole] =
        sampled(sampler, kBlocks, [](std::uint64_t block) { return static_cast<double>(block); });
    EXPECT_LT(started.size(), kBlocks / 10);
    EXPECT_NEAR(whole.cost[kCycles], kBlocks * (kBlocks - 1) / 2.0, 0.01 * kBlocks * kBlocks / 2);
}

TEST(BlockSampling663, UnevenBlocksTakeMoreWindows) {
    const auto uneven = [](std::uint64_t block) { return 100 + static_cast<double>(block / 10 * 37 % 20); };
    BlockSampler sampler({.above = 0}, kGrid);
    const auto [started, whole] = sampled(sampler, kBlocks, uneven);
    EXPECT_GT(started.size(), kBlocks / 10);
    EXPECT_LT(started.size(), kBlocks / 2);
    double truth = 0;
    for (std::uint64_t block = 0; block < kBlocks; ++block) truth += uneven(block);
    EXPECT_LE(whole.error, 0.025);
    EXPECT_NEAR(whole.cost[kCycles], truth, whole.error * whole.cost[kCycles]);
}

TEST(BlockSampling664, ShortLaunchesAndFewWavesAreSimulatedAsAWhole) {
    const auto count = [](std::uint64_t above, const SampledGrid& grid) {
        BlockSampler sampler({.above = above}, grid);
        const auto [started, whole] = sampled(sampler, grid.blocks, [](std::uint64_t) { return 7; });
        EXPECT_FALSE(sampler.skipped());
        EXPECT_EQ(whole.cost[kCycles], 7.0 * static_cast<double>(grid.blocks));
        return started.size();
    };
    EXPECT_EQ(count(10 * kBlocks, kGrid), kBlocks) << "it executes no more instructions than the plan's limit";
    EXPECT_EQ(count(0, {.blocks = 200, .row = 200, .wave = 10}), 200U);
    EXPECT_EQ(count(0, {.blocks = 5, .row = 5, .wave = 10}), 5U) << "less than a wave";
}

TEST(BlockSampling665, TheHeadHoldsARowOfAGridWithManyRows) {
    BlockSampler sampler({.above = 0}, {.blocks = kBlocks, .row = 100, .wave = 10});
    const auto [started, whole] = sampled(sampler, kBlocks, [](std::uint64_t) { return 7; });
    EXPECT_EQ(started[99], 99U);
    EXPECT_NE(started[100], 100U);
}

}  // namespace
}  // namespace gputomo::sim
