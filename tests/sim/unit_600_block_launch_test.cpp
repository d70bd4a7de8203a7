// Behaviours 600 to 699: block launch, branches and clocks alone.
#include "sim/sm/engine/block_launch.hpp"
#include "sim/sm/units/control_flow.hpp"

#include <gtest/gtest.h>

namespace gputomo::sim {
namespace {

/// Five blocks of four warps for two SMs that hold two blocks each.
struct FiveBlocks : testing::Test {
    BlockLaunchSpec spec{.blocks = 5, .blocks_per_sm = 2};
    costs::BlockLimits limits{.blocks = 2, .most_blocks = 8, .warps_of_block = 4, .warps_of_scheduler = 8};
    BlockLaunchState state = idle();

    [[nodiscard]] BlockLaunchState idle() const {
        return {.sms = std::vector<SmOccupancy>(2, {.room = costs::BlockRoom(limits, 1)})};
    }
};

using BlockLaunch601 = FiveBlocks;
TEST_F(BlockLaunch601, BlocksStartInOrderUntilTheSmIsFull) {
    EXPECT_EQ(start_block(spec, state, 0, 0)->block, 0U);
    EXPECT_EQ(start_block(spec, state, 1, 0)->block, 1U);
    EXPECT_EQ(start_block(spec, state, 0, 0)->block, 2U);
    EXPECT_FALSE(start_block(spec, state, 0, 0)) << "two blocks are resident";
    state.sms[0].room.end_block();
    EXPECT_EQ(start_block(spec, state, 0, 0)->block, 3U);
}

using BlockLaunch602 = FiveBlocks;
TEST_F(BlockLaunch602, NoBlockStartsBehindTheLastOne) {
    state.next = 4;
    EXPECT_EQ(start_block(spec, state, 0, 0)->block, 4U);
    EXPECT_FALSE(start_block(spec, state, 1, 0));
}

using BlockLaunch603 = FiveBlocks;
TEST_F(BlockLaunch603, TheGpuStartsOneBlockForEachInterval) {
    spec.block_interval = 7;
    EXPECT_EQ(start_block(spec, state, 0, 10)->when, 10);
    EXPECT_EQ(start_block(spec, state, 1, 10)->when, 17);
    EXPECT_EQ(start_block(spec, state, 0, 30)->when, 30);
}

using BlockLaunch604 = FiveBlocks;
TEST_F(BlockLaunch604, AnSmStartsOneWarpForEachInterval) {
    spec.warp_interval = 5;
    EXPECT_EQ(start_block(spec, state, 0, 10)->when, 10);
    EXPECT_EQ(start_block(spec, state, 1, 10)->when, 10) << "another SM";
    EXPECT_EQ(start_block(spec, state, 0, 10)->when, 30) << "4 warps take 20 cycles";
}

using BlockLaunch605 = FiveBlocks;
TEST_F(BlockLaunch605, FirstBlocksOfSmsAndOfOneSmHaveIntervalsOfTheirOwn) {
    spec.counts_ends = true;
    spec.block_interval = 7;
    spec.first_interval = 3;
    spec.next_interval = 20;
    EXPECT_EQ(start_block(spec, state, 0, 0)->when, 0);
    EXPECT_EQ(start_block(spec, state, 1, 0)->when, 3);
    EXPECT_EQ(start_block(spec, state, 0, 0)->when, 20) << "behind the first one of the SM";
    EXPECT_EQ(start_block(spec, state, 1, 0)->when, 23);
    state.begins = false;
    state.sms[0].room.end_block();
    EXPECT_EQ(start_block(spec, state, 0, 500)->when, 500);
}

using BlockLaunch606 = FiveBlocks;
TEST_F(BlockLaunch606, EndsCountOneAfterTheOther) {
    spec.block_interval = 7;
    EXPECT_EQ(count_end(spec, state, 10), 10);
    EXPECT_EQ(count_end(spec, state, 10), 10) << "described as starts";
    spec.counts_ends = true;
    EXPECT_EQ(count_end(spec, state, 10), 10);
    EXPECT_EQ(count_end(spec, state, 10), 17);
    EXPECT_EQ(count_end(spec, state, 40), 40);
}

/// Blocks of six warps on an SM of four schedulers, each with three slots.
struct RoomOfWarps : testing::Test {
    costs::BlockLimits limits{
        .blocks = 2, .most_blocks = 3, .warps_of_block = 6, .warps_of_scheduler = 3, .warps_give_back = true};
    costs::BlockRoom room{limits, 4};

    std::vector<std::uint32_t> start() {
        EXPECT_TRUE(room.fits());
        room.start_block();
        std::vector<std::uint32_t> schedulers;
        for (std::uint32_t w = 0; w < limits.warps_of_block; ++w) schedulers.push_back(room.start_warp());
        return schedulers;
    }
};

using BlockRoom607 = RoomOfWarps;
TEST_F(BlockRoom607, WarpsGoToTheSchedulersInTurn) {
    EXPECT_EQ(start(), (std::vector<std::uint32_t>{0, 1, 2, 3, 0, 1}));
    EXPECT_EQ(start(), (std::vector<std::uint32_t>{2, 3, 0, 1, 2, 3}));
}

using BlockRoom608 = RoomOfWarps;
TEST_F(BlockRoom608, ABlockTakesTheRoomOfEndedWarpsWhereEachSchedulerHasSome) {
    start(), start();
    EXPECT_FALSE(room.fits()) << "all slots are taken";
    for (const std::uint32_t scheduler : {0U, 1U, 2U}) room.end_warp(scheduler);
    EXPECT_FALSE(room.fits()) << "six warps need one of scheduler 3, and two of schedulers 0 and 1";
    for (const std::uint32_t scheduler : {0U, 1U, 3U}) room.end_warp(scheduler);
    EXPECT_EQ(start(), (std::vector<std::uint32_t>{0, 1, 2, 3, 0, 1}));
    for (const std::uint32_t scheduler : {0U, 1U, 2U, 3U, 2U, 3U}) room.end_warp(scheduler);
    EXPECT_FALSE(room.fits()) << "shared memory holds three blocks, and none is over";
    room.end_block();
    EXPECT_TRUE(room.fits());
}

using BlockRoom609 = RoomOfWarps;
TEST_F(BlockRoom609, WithoutTheLeafABlockWaitsForAWholeOne) {
    limits.warps_give_back = false;
    room = costs::BlockRoom(limits, 4);
    start(), start();
    for (const std::uint32_t scheduler : {0U, 1U, 2U, 3U, 0U, 1U}) room.end_warp(scheduler);
    EXPECT_FALSE(room.fits());
    room.end_block();
    EXPECT_TRUE(room.fits());
}

using BlockRoom610 = RoomOfWarps;
TEST_F(BlockRoom610, TheFirstWarpMovesOnWhereWarpsDivideEvenly) {
    limits = {.blocks = 4, .warps_of_block = 4, .scheduler_step = 1};
    room = costs::BlockRoom(limits, 4);
    EXPECT_EQ(start(), (std::vector<std::uint32_t>{0, 1, 2, 3}));
    EXPECT_EQ(start(), (std::vector<std::uint32_t>{1, 2, 3, 0}));
    EXPECT_EQ(start(), (std::vector<std::uint32_t>{2, 3, 0, 1}));
}

// ---- branches and clocks -------------------------------------------------------------------------------------------

TEST(Branches621, TakeTheDescribedCyclesOrTheLatencyOfTheirUnit) {
    EXPECT_EQ(branch_latency({}, {.taken = true}, 24), 24);
    const BranchSpec spec{.taken = 40, .untaken = 12};
    EXPECT_EQ(branch_latency(spec, {.taken = true}, 24), 40);
    EXPECT_EQ(branch_latency(spec, {.taken = false}, 24), 12);
    EXPECT_EQ(branch_latency(spec, {.taken = true, .diverged = true}, 24), 40) << "as a taken branch";
}

TEST(Branches622, ADivergenceAddsItsCostToAnUntakenBranch) {
    EXPECT_EQ(branch_latency({.taken = 40, .untaken = 12, .divergence = 30}, {.taken = true, .diverged = true}, 24),
              42);
    EXPECT_EQ(branch_latency({.divergence = 30}, {.taken = true, .diverged = true}, 24), 54);
}

TEST(Clocks631, AdvanceInStepsOfTheirResolution) {
    EXPECT_EQ(clock_at({}, 1000, 7.9), 1007U);
    EXPECT_EQ(clock_at({.resolution = 4}, 1000, 7.9), 1004U);
}

}  // namespace
}  // namespace gputomo::sim
