// Replays of one SM whose cycles can be counted by hand.
#include "replay_kernel.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gputomo::predict {
namespace {

using ::testing::DoubleEq;

TEST(SmTimeline, InstructionsIssueWhenStallCountsAllow) {
    EXPECT_THAT(Kernel({{.stall = 4}, {.stall = 2}, {.stall = 1}}, 1, 1).run().cycles, DoubleEq(4 + 2));
}

TEST(SmTimeline, WarpsOfOneSchedulerShareItsSlots) {
    const Kernel kernel({{.stall = 1}, {.stall = 1}}, 1, 8);
    EXPECT_THAT(kernel.run().busy.at(kIssue), DoubleEq(4 * 2));
    EXPECT_THAT(kernel.run().cycles, DoubleEq(4 * 2 - 1));
}

TEST(SmTimeline, UnitTakesOneWarpAfterTheOther) {
    Kernel kernel({{.unit = 0, .interval = 16}}, 1, 4);
    kernel.profile.units = {{"sfu", true}};
    EXPECT_THAT(kernel.run().cycles, DoubleEq(3 * 16));
    kernel.profile.units = {{"sfu", false}};  // one for each of the two schedulers
    EXPECT_THAT(kernel.run().cycles, DoubleEq(16));
}

TEST(SmTimeline, TheOldestBlockIssuesFirst) {
    // Two schedulers; blocks of two warps whose instructions could each issue in every cycle.
    Kernel kernel({{.stall = 1}, {.stall = 1}, {.stall = 1}}, 3, 2);
    kernel.profile.resident_blocks = 3;
    const auto ends = [&](bool oldest) {
        SmRates described = rates();
        described.oldest_block_first = oldest;
        return kernel.run(described).ends;
    };
    EXPECT_THAT(ends(true), ::testing::ElementsAre(DoubleEq(2), DoubleEq(5), DoubleEq(8)));
    EXPECT_THAT(ends(false), ::testing::ElementsAre(DoubleEq(6), DoubleEq(7), DoubleEq(8)));
}

TEST(SmTimeline, TheOldestBlockGetsAUnitFirst) {
    Kernel kernel({{.unit = 0, .interval = 10, .stall = 1}, {.unit = 0, .interval = 10, .stall = 1}}, 2, 2);
    kernel.profile.units = {{"sfu", false}};
    kernel.profile.resident_blocks = 2;
    SmRates described = rates();
    described.oldest_block_first = true;
    EXPECT_THAT(kernel.run(described).ends, ::testing::ElementsAre(DoubleEq(10), DoubleEq(30)));
    EXPECT_THAT(kernel.run().ends, ::testing::ElementsAre(DoubleEq(20), DoubleEq(30)));
}

TEST(SmTimeline, ArithmeticIssuesLessOftenBesideProducts) {
    const launch::ProfiledStep product{.unit = 0, .interval = 100, .beside = 5, .queues = true};
    const launch::ProfiledStep add{.unit = 1, .interval = 2, .results = 1};
    Kernel kernel({product, add, add, add}, 1, 1);
    kernel.profile.units = {{"tensor", false}, {"sp", false}};
    EXPECT_THAT(kernel.run().cycles, DoubleEq(1 + 2 * 5));
    kernel.profile.steps[2].unit = -1;  // no arithmetic: it waits for an issue slot alone
    kernel.profile.steps[2].results = 0;
    EXPECT_THAT(kernel.run().cycles, DoubleEq(1 + 5));
    kernel.profile.steps[0].interval = 3;  // the product ends
    kernel.profile.steps[2] = add;
    EXPECT_THAT(kernel.run().cycles, DoubleEq(1 + 5 + 2));
}

TEST(SmTimeline, UseWaitsForItsLoad) {
    Kernel kernel({kLoad, kUse}, 1, 1);
    kernel.touch(0, launch::AccessKind::load);
    EXPECT_THAT(kernel.run().cycles, DoubleEq(kMemory + 3 * 32.0 / 64));
    EXPECT_THAT(kernel.run().dram_read_bytes, DoubleEq(128));
}

TEST(SmTimeline, LatencyOfMemoryDiffersByLine) {
    SmRates varied = rates();
    varied.memory_line_range = 150;
    constexpr int kLoads = 400;
    double shortest = 1e9, longest = 0, sum = 0;
    for (std::uint64_t line = 0; line < kLoads; ++line) {
        Kernel kernel({kLoad, kUse}, 1, 1);
        kernel.touch(0, launch::AccessKind::load);
        kernel.blocks[0].lines[0].line = 2 * line;
        const double difference = kernel.run(varied).cycles - kernel.run().cycles;
        shortest = std::min(shortest, difference), longest = std::max(longest, difference);
        sum += difference;
    }
    EXPECT_THAT(shortest, DoubleEq(-75));
    EXPECT_THAT(longest, DoubleEq(75));
    EXPECT_NEAR(sum / kLoads, 0, 10);
}

TEST(SmTimeline, LineThatIsThereComesFromTheFirstCache) {
    Kernel kernel({kLoad, kUse, kLoad, kUse}, 1, 1);
    kernel.touch(0, launch::AccessKind::load);
    kernel.touch(2, launch::AccessKind::load);
    const auto timeline = kernel.run();
    EXPECT_THAT(timeline.dram_read_bytes, DoubleEq(128));
    EXPECT_THAT(timeline.l1_hit_bytes, DoubleEq(128));
    EXPECT_THAT(timeline.cycles, DoubleEq(kMemory + 1.5 + 4 + kL1));
}

const launch::ProfiledStep kBarrier{.kind = launch::StepKind::block_barrier, .stall = 1, .waits = 1};

TEST(SmTimeline, BarrierWaitsForTheLastWarp) {
    Kernel kernel({kLoad, kBarrier, {.stall = 1}}, 1, 2);
    kernel.touch(0, launch::AccessKind::load);
    kernel.blocks[0].warps[1].erase(kernel.blocks[0].warps[1].begin());  // has nothing to wait for
    kernel.blocks[0].meetings = {{{.event = 1, .threads = 32}}, {{.event = 0, .threads = 32}}};
    EXPECT_THAT(kernel.run().cycles, DoubleEq(kMemory + 1.5 + 10));
}

TEST(SmTimeline, ArithmeticBehindABarrierDoesNotWaitForIt) {
    // The first warp comes late, because it loads. The second one has arithmetic behind the barrier.
    const launch::ProfiledStep arithmetic{.passes_barriers = true, .stall = 200}, last{.stall = 1};
    Kernel kernel({kLoad, kBarrier, arithmetic, last}, 1, 2);
    kernel.touch(0, launch::AccessKind::load);
    auto& block = kernel.blocks[0];
    block.warps[0].erase(block.warps[0].begin() + 2);
    block.warps[1].erase(block.warps[1].begin());
    block.meetings = {{{.event = 1, .threads = 32}}, {{.event = 0, .threads = 32}}};
    const double complete = kMemory + 1.5 + 10;
    EXPECT_THAT(kernel.run().cycles, DoubleEq(complete + 200));
    kernel.profile.steps[1].defers_waiting = true;
    EXPECT_THAT(kernel.run().cycles, DoubleEq(complete));
    // Arithmetic that outlasts the barrier.
    for (int i = 0; i < 4; ++i) block.warps[1].insert(block.warps[1].begin() + 1, {.step = 2});
    EXPECT_THAT(kernel.run().cycles, DoubleEq(1 + 5 * 200));
    // A record that ends behind the barrier ends with it.
    block.warps[1].resize(2);
    EXPECT_THAT(kernel.run().cycles, DoubleEq(complete));
}

/// Four warps meet in pairs: the first one at barrier 1, whose warps load before, the second one at barrier 2.
Kernel pairs() {
    Kernel kernel({kLoad, kBarrier, {.stall = 1}}, 1, 4);
    kernel.touch(0, launch::AccessKind::load);
    for (std::uint32_t w = 0; w < 4; ++w) {
        auto& warp = kernel.blocks[0].warps[w];
        if (w != 0) warp.erase(warp.begin());
        kernel.blocks[0].meetings.push_back({{.event = w == 0 ? 1U : 0U,
                                              .barrier = static_cast<std::uint8_t>(1 + w / 2),
                                              .threads = 32,
                                              .expected = 64}});
    }
    return kernel;
}

TEST(SmTimeline, WarpsMeetAtTheBarrierThatTheyName) {
    Kernel kernel = pairs();
    const double together = kMemory + 1.5 + 10;
    EXPECT_THAT(kernel.run().cycles, DoubleEq(together));
    // The second pair is done long before the first one has its data, and so is a warp that arrives without waiting.
    EXPECT_LT(kernel.run().warp_cycles, 2 * together + 2 * 50);
    kernel.blocks[0].meetings[1][0].waits = false;
    EXPECT_LT(kernel.run().warp_cycles, together + 3 * 50);
}

TEST(SmTimeline, ARecordThatLacksArrivalsEnds) {
    Kernel kernel = pairs();
    kernel.blocks[0].meetings[0][0].expected = kernel.blocks[0].meetings[1][0].expected = 96;
    EXPECT_THAT(kernel.run().cycles, DoubleEq(kMemory + 1.5 + 10));
}

TEST(SmTimeline, AWarpWaitsForAllPhasesThatItsThreadsAskFor) {
    Kernel kernel({kLoad, {.kind = launch::StepKind::shared, .stall = 1, .waits = 1}, {.stall = 1}}, 1, 3);
    kernel.touch(0, launch::AccessKind::load, 64);
    auto& block = kernel.blocks[0];
    block.warps[0].erase(block.warps[0].begin());
    block.warps[1].erase(block.warps[1].begin());
    // The first warp asks for a phase of two barriers. The second warp ends one of them early, the third one the other.
    block.phases = {{{.event = 0, .barrier = 0, .phase = 1, .checks = true},
                     {.event = 0, .barrier = 1, .phase = 1, .checks = true}},
                    {{.event = 0, .barrier = 0}},
                    {{.event = 1, .barrier = 1}}};
    EXPECT_GT(kernel.run().cycles, kMemory);
    EXPECT_GT(kernel.run().warp_cycles, 2 * kMemory);
}

TEST(SmTimeline, NextBlockStartsWhenAResidentOneHasEnded) {
    const Kernel kernel({{.stall = 1}}, 3, 1);
    EXPECT_THAT(kernel.run().cycles, DoubleEq(2 * 100));
    SmRates slow = rates();
    slow.block_interval = 400;
    EXPECT_THAT(kernel.run(slow).cycles, DoubleEq(2 * 400));
}

TEST(SmTimeline, EndsCountOneAfterTheOther) {
    Kernel kernel({{.stall = 1}}, 3, 1);
    SmRates counting = rates();
    counting.counts_ends = true;
    counting.block_interval = 400;
    EXPECT_THAT(kernel.run(counting).cycles, DoubleEq(2 * (400 + 0))) << "each replaces one that has counted";
    kernel.profile.resident_blocks = 3;
    counting.next_interval = 30;
    EXPECT_THAT(kernel.run(counting).cycles, DoubleEq(2 * 400)) << "all have started by then";
    counting.block_interval = 10;
    EXPECT_THAT(kernel.run(counting).cycles, DoubleEq(2 * 30));
    Shares late = kAlone;
    late.first_start = 70;
    EXPECT_THAT(kernel.run(counting, late).cycles, DoubleEq(70 + 2 * 30));
}

TEST(SmTimeline, BlocksTakeTheRoomOfWarpsThatHaveEnded) {
    // The first warp of each block executes 100 steps, the others one.
    Kernel kernel(std::vector<launch::ProfiledStep>(100, {.stall = 10}), 4, 4);
    for (auto& block : kernel.blocks)
        for (std::size_t w = 1; w < 4; ++w) block.warps[w].resize(1);
    kernel.profile.threads_of_block = 128;
    kernel.profile.resident_blocks = 2;
    kernel.profile.room = {.blocks = 2, .most_blocks = 4, .warps_of_block = 4, .warps_of_scheduler = 6};
    SmRates alike = rates();
    alike.block_replacement = 50;
    const double whole = kernel.run(alike).cycles;
    EXPECT_NEAR(whole, 2 * 1000 + 50, 50) << "two waves";
    kernel.profile.room.warps_give_back = true;
    EXPECT_NEAR(kernel.run(alike).cycles, whole, 20) << "no block ends before the others have run for as long";
    kernel.blocks[0].warps[0].resize(1);
    EXPECT_NEAR(kernel.run(alike).cycles, 1000 + 60, 30) << "the end of the first one lets two start";
    kernel.profile.room.warps_give_back = false;
    EXPECT_NEAR(kernel.run(alike).cycles, 2 * 1000 + 100, 80);
}

TEST(SmTimeline, LoadsAndStoresPutOffTheEnd) {
    for (const bool stores : {false, true}) {
        Kernel kernel({{.kind = launch::StepKind::global, .stall = 1}}, 1, 1);
        kernel.touch(0, stores ? launch::AccessKind::store : launch::AccessKind::load);
        SmRates draining = rates();
        draining.load_drain = 210;
        draining.store_drain = 290;
        draining.stores = {.sm = 32, .gpu = 32};
        SmRates at_once = draining;
        at_once.load_drain = at_once.store_drain = 0;
        const double before = kernel.run(at_once).cycles;
        EXPECT_THAT(kernel.run(draining).cycles, DoubleEq(before + (stores ? 290 : 210)));
    }
}

TEST(SmTimeline, PagesThatEarlierLaunchesUsedNeedNoWalk) {
    Kernel kernel({kLoad, kUse}, 1, 1);
    kernel.touch(0, launch::AccessKind::load);
    SmRates translating = rates();
    const double before = kernel.run().cycles;
    translating.tlbs = {{.span = 1 << 20, .penalty = 10, .of_sm = true}, {.span = 1 << 20, .penalty = 400}};
    EXPECT_NEAR(kernel.run(translating).cycles, before + 410, 2);
    translating.tlbs[1].known = true;
    EXPECT_NEAR(kernel.run(translating).cycles, before + 10, 2);
}

TEST(SmTimeline, StoresOccupyTheirBandwidth) {
    Kernel kernel({{.kind = launch::StepKind::global, .stall = 1}}, 1, 16);
    kernel.touch(0, launch::AccessKind::store);
    SmRates slow = rates();
    slow.stores = {.sm = 32, .gpu = 32};
    EXPECT_THAT(kernel.run(slow).busy.at(kL2Stores), DoubleEq(16 * 128 / 32.0));
    EXPECT_THAT(kernel.run(slow, {.active_sms = 4, .l2_bytes = 1 << 20}).busy.at(kL2Stores), DoubleEq(4 * 64));
}

TEST(SmTimeline, UseIsAveragedOverAllSmsAndSchedulers) {
    Kernel kernel({{.unit = 0, .interval = 16}}, 1, 1);
    kernel.profile.units = {{"sfu", false}};
    SmRates two = rates();
    two.sms = 4;
    const Shares on_two{.active_sms = 2, .l2_bytes = 1 << 20};
    EXPECT_THAT(kernel.run(two, on_two).busy.at("unit sfu"), DoubleEq(16));
    EXPECT_THAT(kernel.run(two, on_two).used.sm, DoubleEq(16 / 2.0 * 2 / 4))
        << "one of two schedulers, two of four SMs";
    kernel.profile.units = {{"sfu", true}};
    EXPECT_THAT(kernel.run(two, on_two).used.sm, DoubleEq(16 * 2 / 4.0));
}

TEST(SmTimeline, FurtherSlotsOfAnInstructionAreNoInstructions) {
    const Kernel kernel({{.slots = 3, .stall = 1}, {.stall = 1}}, 1, 8);
    EXPECT_THAT(kernel.run().busy.at(kIssue), DoubleEq(4 * 4));
    EXPECT_THAT(kernel.run().used.sm, DoubleEq(4 * 2 / 4.0)) << "on one of four SMs";
}

TEST(SmTimeline, StoresAndReadsOfDramShareTheWayThroughTheL2) {
    Kernel kernel({{.kind = launch::StepKind::global, .stall = 1}, kLoad, kUse}, 1, 16);
    kernel.touch(0, launch::AccessKind::store);
    SmRates halves = rates();
    halves.stores = {.sm = 0, .gpu = 32};
    EXPECT_THAT(kernel.run(halves).used.l2, DoubleEq(16 * 128 / 32.0));
    kernel.touch(1, launch::AccessKind::load);
    EXPECT_THAT(kernel.run(halves).used.l2, DoubleEq(16 * 128 / 32.0)) << "each has a way of its own";
    const double apart = kernel.run(halves).cycles;
    halves.l2_fabric = 32;
    EXPECT_THAT(kernel.run(halves).used.l2, DoubleEq(2 * 16 * 128 / 32.0));
    EXPECT_THAT(kernel.run(halves).busy.at(kL2Fabric), DoubleEq(2 * 16 * 128 / 32.0));
    EXPECT_GT(kernel.run(halves).cycles, apart);
    EXPECT_THAT(kernel.run(halves).used.dram, DoubleEq(16 * 128 / 64.0));
    halves.l2_fabric = 8;
    EXPECT_GT(kernel.run(halves).cycles, kMemory + 15 * 128 / 8.0) << "the data of the loads pass one after the other";
}

TEST(SmTimeline, LinesThatSmsOfAGpcShareTakeTheirWayOnce) {
    Kernel kernel({kLoad, kUse}, 1, 16);
    kernel.touch(0, launch::AccessKind::load);
    SmRates of_gpc = rates();
    of_gpc.gpc_loads = 64;
    of_gpc.merged_loads = 4;
    const Shares four{.active_sms = 4, .gpc_sms = 4, .first_of_gpu = 0, .l2_bytes = 1 << 20};
    EXPECT_THAT(kernel.run(of_gpc, four).busy.at(kL2Loads), DoubleEq(4 * 16 * 128 / 64.0));
    kernel.blocks[0].sharers.assign(kernel.blocks[0].lines.size(), 2);
    EXPECT_THAT(kernel.run(of_gpc, four).busy.at(kL2Loads), DoubleEq(2 * 16 * 128 / 64.0));
    kernel.blocks[0].sharers.assign(kernel.blocks[0].lines.size(), 16);
    EXPECT_THAT(kernel.run(of_gpc, four).busy.at(kL2Loads), DoubleEq(16 * 128 / 64.0)) << "four at most";
    kernel.blocks[0].sharers.clear();
    EXPECT_THAT(kernel.run(of_gpc, four).busy.at(kL2Loads), DoubleEq(4 * 16 * 128 / 64.0)) << "not known";
}

TEST(SmTimeline, FirstInstructionWithALineOfConstantsWaitsForIt) {
    Kernel kernel({{.constant = 512, .stall = 1}, {.constant = 512, .stall = 1}, {.stall = 1}}, 1, 1);
    EXPECT_THAT(kernel.run().cycles, DoubleEq(2));
    SmRates described = rates();
    described.constants_read = {.first = 62};
    EXPECT_THAT(kernel.run(described).cycles, DoubleEq(62 + 2));
}

TEST(ConstantOperands, LineIsThatOfTheFirstCacheOfConstants) {
    machine::Machine machine;
    machine.operations["ld.const:operand"].latency.set(62);
    costs::ConstantPort port;
    costs::ConstantOperands assumed(costs::constant_spec_of(machine));
    EXPECT_EQ(assumed.there(512, port, 0), 62);
    EXPECT_EQ(assumed.there(512 + 60, port, 100), 100) << "of the same line of 64 bytes";
    EXPECT_EQ(assumed.there(512 + 64, port, 100), 162);
    machine.paths["constant"].caches.set({"constant_l1"});
    machine.caches["constant_l1"].line.set(32);
    costs::ConstantOperands described(costs::constant_spec_of(machine));
    EXPECT_EQ(described.there(512, port, 0), 62);
    EXPECT_EQ(described.there(512 + 28, port, 100), 100);
    EXPECT_EQ(described.there(512 + 32, port, 100), 162);
    EXPECT_EQ(described.there(costs::kNoConstant, port, 100), 100);
}

TEST(ConstantOperands, AreAskedForOneByOneWhereThatIsDescribed) {
    machine::Machine machine;
    machine.operations["ld.const:operand"].latency.set(62);
    costs::ConstantPort port;
    costs::ConstantOperands at_once(costs::constant_spec_of(machine));
    EXPECT_EQ(at_once.there(0, port, 10), 72);
    EXPECT_EQ(at_once.there(64, port, 20), 82);
    machine.issue.constant_turnaround.set(26);
    costs::ConstantOperands one_by_one(costs::constant_spec_of(machine));
    EXPECT_EQ(one_by_one.there(0, port, 10), 72);
    EXPECT_EQ(one_by_one.there(64, port, 20), 72 + 26 + 62) << "the line before is on its way";
    EXPECT_EQ(one_by_one.there(0, port, 30), 72) << "the line that is on its way is asked for once";
    EXPECT_EQ(one_by_one.there(128, port, 500), 562) << "the line before has come";
}

TEST(SmTimeline, SchedulersReadConstantsOneAfterTheOther) {
    Kernel kernel({{.constant = 512, .stall = 1}, {.stall = 1}}, 1, 4);
    SmRates described = rates();
    described.constants_read = {.first = 60};
    const double at_once = kernel.run(described).cycles;
    described.constants_read = {.first = 60, .interval = 20};
    EXPECT_THAT(kernel.run(described).cycles - at_once, DoubleEq(20)) << "there are two schedulers";
}

TEST(SmTimeline, AFenceForBulkCopiesWaitsForStoresToSharedMemory) {
    launch::ProfiledStep fence{.latency = 30, .stall = 1, .written = 0};
    fence.shows_stores = true;
    const launch::ProfiledStep after{.stall = 1, .waits = 1};
    EXPECT_THAT(Kernel({fence, after}, 1, 1).run().cycles, DoubleEq(30));
    const auto behind = [&](launch::AccessKind kind) {
        Kernel kernel({{.kind = launch::StepKind::shared, .stall = 1}, fence, after}, 1, 1);
        auto& trace = kernel.blocks.front();
        trace.accesses.push_back({.kind = kind, .bank_cycles = 8, .bank_latency = 40});
        trace.warps.front().front().access = 0;
        return kernel.run().cycles;
    };
    EXPECT_THAT(behind(launch::AccessKind::store), DoubleEq(40 + 30)) << "when the banks have taken it";
    EXPECT_THAT(behind(launch::AccessKind::load), DoubleEq(1 + 30));
}

TEST(SmTimeline, StoresComeBeforeDataThatDramIsStillReading) {
    Kernel kernel({kLoad, {.kind = launch::StepKind::global, .stall = 1}, kUse}, 1, 4);
    kernel.touch(0, launch::AccessKind::load);
    SmRates narrow = rates();
    narrow.l2_fabric = 4;
    const double loads = kernel.run(narrow).cycles;
    EXPECT_GT(loads, kMemory + 3 * 128 / 4.0) << "data pass one after the other";
    kernel.touch(1, launch::AccessKind::store, 2);
    EXPECT_NEAR(kernel.run(narrow).cycles, loads, 32) << "the stores pass before the first data are back";
}

TEST(SmTimeline, LastStoreIsWaitedForUntilItHasPassedTheL2) {
    Kernel kernel({{.kind = launch::StepKind::global, .stall = 1}}, 1, 16);
    kernel.touch(0, launch::AccessKind::store);
    SmRates narrow = rates();
    const double wide = kernel.run(narrow).cycles;
    narrow.l2_fabric = 4;
    EXPECT_GT(kernel.run(narrow).cycles, wide + 14 * 128 / 4.0);
}

TEST(SmTimeline, LinesThatWereDisplacedHaveToReachMemory) {
    Kernel kernel({{.kind = launch::StepKind::global, .stall = 2}}, 1, 8);
    kernel.touch(0, launch::AccessKind::store);
    Shares shares = kAlone;
    const double alone = kernel.run(rates(), shares).cycles;
    shares.written_back = 1;
    shares.write_cost = 50;
    EXPECT_THAT(kernel.run(rates(), shares).cycles, DoubleEq(8 * 128 * 50 / 64.0));
    EXPECT_LT(alone, 100);
}

TEST(SmTimeline, SmsThatHaveDriftedApartWaitLessForEachOther) {
    // Each block reads 16 lines at once, for which the memory takes 640 cycles, and then computes for 604 cycles. As
    // long as all SMs do the same, the memory is idle half of the time.
    Kernel kernel({kLoad, kUse, {.stall = 200}, {.stall = 200}, {.stall = 200}, {.stall = 1}}, 32, 16);
    kernel.touch(0, launch::AccessKind::load);
    SmRates drifting = rates();
    drifting.block_replacement = drifting.memory_latency = drifting.l2_latency = 0;
    const Shares shares{.active_sms = 20, .first_of_gpu = 1, .l2_bytes = 1 << 20};
    const Timeline together = kernel.run(drifting, shares);
    drifting.sm_spread = 0.25;
    const Timeline apart = kernel.run(drifting, shares);
    EXPECT_DOUBLE_EQ(together.busy.at(kDram), apart.busy.at(kDram));
    EXPECT_NEAR(together.cycles, 32 * (604 + 640), 32 * 15);
    EXPECT_GE(apart.cycles, apart.busy.at(kDram)) << "the memory cannot do more than before";
    EXPECT_LT(apart.cycles, 0.6 * together.cycles);
    // The SM whose share is the smallest.
    Shares slowest = shares;
    slowest.slowest = 1.1;
    const Timeline last = kernel.run(drifting, slowest);
    EXPECT_DOUBLE_EQ(last.busy.at(kDram), apart.busy.at(kDram)) << "it moves as many bytes";
    EXPECT_GE(last.cycles, 1.1 * apart.busy.at(kDram));
}

TEST(SmTimeline, PrefetchedBlockIsReadAtAMiss) {
    Kernel kernel({kLoad, kUse, kLoad, kUse}, 1, 1);
    kernel.touch(0, launch::AccessKind::load);
    kernel.touch(2, launch::AccessKind::load);
    auto& block = kernel.blocks[0];
    block.lines[0].sectors = 0b0001;
    block.lines[1].sectors = 0b1000;
    SmRates sectors = rates();
    sectors.l2_granule = 32;
    const double apart = kernel.run(sectors).cycles;
    EXPECT_THAT(kernel.run(sectors).dram_read_bytes, DoubleEq(64));
    block.accesses[0].prefetched = 64;
    EXPECT_THAT(kernel.run(sectors).cycles, DoubleEq(apart)) << "the other half of the line";
    block.accesses[0].prefetched = 128;
    EXPECT_THAT(kernel.run(sectors).dram_read_bytes, DoubleEq(128));
    EXPECT_NEAR(kernel.run(sectors).cycles, apart - (kMemory - kL2), 4);
}

TEST(SmTimeline, StoresToLinesOnTheirWayBlockTheirPartOfTheL2) {
    // Each store follows the load of its line at once; another load comes later.
    Kernel kernel({kLoad, {.kind = launch::StepKind::global, .stall = 1}, kLoad, kUse}, 1, 16);
    kernel.touch(0, launch::AccessKind::load);
    kernel.touch(1, launch::AccessKind::store);
    kernel.touch(2, launch::AccessKind::load, 2);
    SmRates parts = rates();
    parts.atomic_units.emplace(4, 512, std::array<costs::AtomicCost, 4>{});
    const double merged = kernel.run(parts).cycles;
    EXPECT_FALSE(kernel.run(parts).busy.contains(kFilling));
    parts.stores_block_fills = true;
    const auto blocked = kernel.run(parts);
    EXPECT_GT(blocked.busy.at(kFilling), 0);
    EXPECT_GT(blocked.cycles, merged);
}

TEST(SmTimeline, PortsOfAnSmToTheL2BelongToItsL1) {
    Kernel kernel({{.kind = launch::StepKind::global, .stall = 1}}, 1, 16);
    kernel.touch(0, launch::AccessKind::store);
    SmRates narrow = rates();
    narrow.stores = {.sm = 32, .gpu = 0};
    EXPECT_THAT(kernel.run(narrow).used.l1, DoubleEq(16 * 128 / 32.0 / 4)) << "of one of four SMs";
    EXPECT_THAT(kernel.run(narrow).used.l2, DoubleEq(0));
}

TEST(SmTimeline, SectorsWrittenInPartTakeLongerAtTheL2) {
    Kernel kernel({{.kind = launch::StepKind::global, .stall = 1}}, 1, 16);
    kernel.touch(0, launch::AccessKind::store);
    kernel.profile.partial_store = 2.5;
    for (auto& line : kernel.blocks[0].lines) line.partial = true;
    SmRates slow = rates();
    slow.stores = {.sm = 32, .gpu = 16};
    EXPECT_THAT(kernel.run(slow).busy.at(kL2Stores), DoubleEq(2.5 * 16 * 128 / 16.0));
    slow.stores = {.sm = 32, .gpu = 0};
    EXPECT_THAT(kernel.run(slow).busy.at(kL2Stores), DoubleEq(16 * 128 / 32.0)) << "the SM's port moves their bytes";
}

TEST(SmTimeline, LoneSectorTakesAsLongAsItsGranuleAtTheL2) {
    Kernel kernel({kLoad}, 1, 16);
    kernel.touch(0, launch::AccessKind::load);
    SmRates slow = rates();
    slow.l2_granule = 64;
    slow.loads = {.sm = 0, .gpu = 64};
    EXPECT_THAT(kernel.run(slow).busy.at(kL2Loads), DoubleEq(16 * 128 / 64.0));
    for (auto& line : kernel.blocks[0].lines) line.sectors = 0b0110;  // a sector of each of two granules
    EXPECT_THAT(kernel.run(slow).busy.at(kL2Loads), DoubleEq(16 * 128 / 64.0));
    for (auto& line : kernel.blocks[0].lines) line.sectors = 0b0011;
    EXPECT_THAT(kernel.run(slow).busy.at(kL2Loads), DoubleEq(16 * 64 / 64.0));
}

TEST(SmTimeline, AtomicReadsItsLineFromMemory) {
    Kernel kernel({kLoad, kUse}, 1, 1);
    kernel.touch(0, launch::AccessKind::atomic);
    Shares evicting = kAlone;
    evicting.written_back = 1;
    const auto timeline = kernel.run(rates(), evicting);
    EXPECT_THAT(timeline.dram_read_bytes, DoubleEq(128));
    EXPECT_THAT(timeline.dram_written_bytes, DoubleEq(128));
    EXPECT_GT(timeline.cycles, kMemory);
}

TEST(SmTimeline, StageTakesOneAccessAfterTheOther) {
    Kernel kernel({{.kind = launch::StepKind::constant, .stall = 2, .written = 0}, kUse}, 1, 4);
    kernel.touch(0, launch::AccessKind::load);
    for (auto& access : kernel.blocks[0].accesses)
        access.lines = 0, access.stage = launch::Stage::constants, access.stage_cycles = 20, access.spread = 70;
    SmRates constant = rates();
    constant.constant_latency = 50;
    EXPECT_THAT(kernel.run(constant).busy.at(kConstants), DoubleEq(4 * 20));
    // The last of four starts after three others, one of them beside it on its scheduler: its words come later anyway.
    EXPECT_THAT(kernel.run(constant).cycles, DoubleEq(1 + 70 + 50));
    for (auto& access : kernel.blocks[0].accesses) access.spread = 0;
    EXPECT_THAT(kernel.run(constant).cycles, DoubleEq(3 * 20 + 50));
}

TEST(SmTimeline, SharedMemoryAndTheFirstCacheTakeTurnsWhereTheyAreOne) {
    Kernel kernel({kLoad}, 1, 8);
    kernel.touch(0, launch::AccessKind::load);
    auto& accesses = kernel.blocks[0].accesses;
    for (std::size_t i = 0; i < accesses.size(); ++i) {
        accesses[i].stage = launch::Stage::storage;
        accesses[i].stage_cycles = 32;
        if (i % 2 == 0) continue;
        accesses[i].lines = 0;
        accesses[i].stage_cycles = 0;
        accesses[i].bank_cycles = 32;
    }
    EXPECT_THAT(kernel.run().busy.at(kStorage), DoubleEq(8 * 32));
}

TEST(SmTimeline, ReadsOfABusyMemoryWaitAsDescribed) {
    // Warps load one line each, one after the other: a line every 600 cycles.
    Kernel kernel({kLoad, kUse, kLoad, kUse, kLoad, kUse, kLoad, kUse}, 1, 1);
    for (const std::uint32_t step : {0, 2, 4, 6}) kernel.touch(step, launch::AccessKind::load);
    for (std::size_t i = 0; i < kernel.blocks[0].lines.size(); ++i) kernel.blocks[0].lines[i].line = 100 + i;
    SmRates loaded = rates();
    loaded.contention = {{.slope = 100, .limit = 1}};
    const double rate = 2 * 128.0 / 1024;  // two lines in the 1024 cycles before a load, from the third one on
    const double wait = kernel.run(loaded).cycles - kernel.run().cycles;
    EXPECT_GT(wait, 100 * rate / (1 - rate));
    EXPECT_LT(wait, 4 * 100 * rate / (1 - rate));
}

TEST(SmTimeline, WithoutContentionOnlyLatenciesCount) {
    Kernel kernel({kLoad, kUse}, 1, 64);
    kernel.touch(0, launch::AccessKind::load);
    Shares free = kAlone;
    free.contention = false;
    EXPECT_THAT(kernel.run(rates(), free).cycles, DoubleEq(kMemory));
    EXPECT_GT(kernel.run().cycles, kMemory + 63 * 128 / 64.0);
}

TEST(SmTimeline, LineThatOtherSmsReadTooIsFetchedByOneOfThem) {
    Kernel kernel({kLoad, kUse}, 1, 64);
    kernel.touch(0, launch::AccessKind::load);
    Shares shared = kAlone;
    shared.first_of_gpu = 0.25;
    EXPECT_NEAR(kernel.run(rates(), shared).dram_read_bytes, 64 * 128 / 4.0, 64 * 128 / 8.0);
}

/// 40 blocks, one after the other, whose 16 warps load a line each. Where `unequal`, half of them compute for longer.
Timeline many_waves(bool unequal) {
    Kernel kernel({kLoad, kUse, {.stall = 250}, {.stall = 1}}, 40, 16);
    kernel.touch(0, launch::AccessKind::load);
    for (std::size_t i = 0; i < kernel.blocks.size() && unequal; i += 2)
        for (auto& warp : kernel.blocks[i].warps) warp.resize(2);
    Shares shares = kAlone;
    shares.active_sms = 4;
    return kernel.run(rates(), shares);
}

TEST(SmTimeline, SmsThatGetOutOfStepQueueLess) {
    const auto length = [](const Timeline& timeline, std::size_t block) {
        return timeline.blocks[block].end - timeline.blocks[block].start;
    };
    // The loads of four SMs take 16 x 4 x 2 cycles of DRAM where all make them at once.
    const Timeline equal = many_waves(false), unequal = many_waves(true);
    EXPECT_NEAR(length(equal, 2), kMemory + 128 + 250, 16);
    EXPECT_NEAR(length(equal, 38), kMemory + 128 + 250, 16);
    EXPECT_NEAR(length(unequal, 0), kMemory + 128, 16);
    EXPECT_NEAR(length(unequal, 38), kMemory, 40);
}

}  // namespace
}  // namespace gputomo::predict
