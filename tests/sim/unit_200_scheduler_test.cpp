// Behaviours 200 to 299: a warp scheduler and its execution units alone.
#include "sim/sm/units/execution_units.hpp"
#include "sim/sm/units/scheduler.hpp"

#include <gtest/gtest.h>

namespace gputomo::sim {
namespace {

/// Three warps that could issue at cycle 10; one resource besides kNoResource and kSharedBanks.
struct SchedulerOfThree : testing::Test {
    SchedulerSpec spec{.issue_interval = 2, .warp_interval = 2};
    Scheduler scheduler;

    SchedulerOfThree() {
        scheduler.available = {0, 0, 0};
        for (std::uint32_t warp = 5; warp < 8; ++warp) scheduler.times[add_warp(scheduler, warp, 0)] = 10;
    }
};

using Scheduler201 = SchedulerOfThree;
TEST_F(Scheduler201, PicksTheReadyWarpWhoseLastIssueIsLongestAgo) {
    EXPECT_EQ(choose(scheduler, 10), 0U);
    note_issue(spec, scheduler, 0, 10);
    EXPECT_EQ(choose(scheduler, 10), 1U);
    note_issue(spec, scheduler, 1, 12);
    EXPECT_EQ(choose(scheduler, 14), 2U);
    note_issue(spec, scheduler, 2, 14);
    EXPECT_EQ(choose(scheduler, 16), 0U);
}

using Scheduler202 = SchedulerOfThree;
TEST_F(Scheduler202, PassesOverAWarpThatIsNotReady) {
    scheduler.times = {40, 30, 20};
    EXPECT_EQ(next_issue(scheduler), 20);
    EXPECT_EQ(choose(scheduler, 20), 2U);
    EXPECT_EQ(choose(scheduler, 19), 3U) << "none";
}

using Scheduler203 = SchedulerOfThree;
TEST_F(Scheduler203, AWarpWhoseUnitIsBusyKeepsItsTurn) {
    scheduler.resources[0] = kFirstUnitSet;
    scheduler.available[kFirstUnitSet] = 18;
    EXPECT_EQ(choose(scheduler, 10), 1U);
    note_issue(spec, scheduler, 1, 10);
    note_issue(spec, scheduler, 2, 12);
    EXPECT_EQ(choose(scheduler, 18), 0U);
}

using Scheduler204 = SchedulerOfThree;
TEST_F(Scheduler204, IssuesAgainAfterTheIssueInterval) {
    note_issue(spec, scheduler, 0, 10);
    EXPECT_EQ(next_issue(scheduler), 12);
}

using Scheduler205 = SchedulerOfThree;
TEST_F(Scheduler205, ExtraIssueSlotsDelayTheNextIssueOfAllWarps) {
    note_issue(spec, scheduler, 0, 10);
    take_slots(spec, scheduler, 3, 10);
    EXPECT_EQ(next_issue(scheduler), 16);
    take_slots(spec, scheduler, 1, 10);
    EXPECT_EQ(next_issue(scheduler), 16) << "slots never come back";
}

using Scheduler206 = SchedulerOfThree;
TEST_F(Scheduler206, WithoutAReadyWarpThereIsNoNextIssue) {
    scheduler.times = {kNever, kNever, kNever};
    EXPECT_EQ(next_issue(scheduler), kNever);
}

using Scheduler207 = SchedulerOfThree;
TEST_F(Scheduler207, AWarpThatEndsLeavesTheOthersInOrder) {
    scheduler.times = {10, 20, 30};
    remove_warp(scheduler, 1);
    EXPECT_EQ(scheduler.warps, (std::vector<std::uint32_t>{5, 7}));
    EXPECT_EQ(scheduler.times, (std::vector<double>{10, 30}));
}

using Scheduler208 = SchedulerOfThree;
TEST_F(Scheduler208, AWarpThatEndsTakesNobodysTurn) {
    note_issue(spec, scheduler, 0, 10);
    add_warp(scheduler, 8, 0);
    remove_warp(scheduler, 1);
    scheduler.times.assign(3, 10);
    EXPECT_EQ(choose(scheduler, 12), 1U) << "warp 7 never issued";
    note_issue(spec, scheduler, 1, 12);
    EXPECT_EQ(choose(scheduler, 14), 0U);
    note_issue(spec, scheduler, 0, 14);
    EXPECT_EQ(choose(scheduler, 16), 2U) << "warp 8 came after warp 5 had issued";
}

using Scheduler209 = SchedulerOfThree;
TEST_F(Scheduler209, WarpsOfTheSameAgeTakeTurnsBeforeYoungerOnes) {
    scheduler.ages = {1, 1, 2};
    EXPECT_EQ(choose(scheduler, 10), 0U);
    note_issue(spec, scheduler, 0, 10);
    EXPECT_EQ(choose(scheduler, 12), 1U);
    note_issue(spec, scheduler, 1, 12);
    EXPECT_EQ(choose(scheduler, 14), 0U) << "the youngest waits for as long as others can issue";
    scheduler.times = {40, 30, 10};
    EXPECT_EQ(choose(scheduler, 16), 2U);
    note_issue(spec, scheduler, 2, 16);
    EXPECT_EQ(choose(scheduler, 40), 0U);
    remove_warp(scheduler, 0);
    EXPECT_EQ(scheduler.ages, (std::vector<std::uint64_t>{1, 2}));
}

// ---- execution units -----------------------------------------------------------------------------------------------

/// Unit 0 is the scheduler's own, unit 1 belongs to the SM; the first takes a warp in 4 cycles, the second in 16.
struct TwoUnits : testing::Test {
    UnitSpec spec{.of_sm = {0, 1}, .issue_interval = 2};
    UnitTimes own{0, 0}, of_sm{0, 0};
    UnitPorts ports{own, of_sm};
    Cost either{.units = {{0, 4}, {1, 16}}};
};

using Units221 = TwoUnits;
TEST_F(Units221, AnInstructionTakesTheUnitThatIsFreeFirst) {
    occupy(spec, ports, either, 100);
    EXPECT_EQ(own[0], 100 - 2 + 4);
    occupy(spec, ports, either, 100);
    EXPECT_EQ(of_sm[1], 100 - 2 + 16);
    EXPECT_EQ(own[1], 0) << "the unit of the SM is not the scheduler's";
}

using Units222 = TwoUnits;
TEST_F(Units222, ABusyUnitTakesInstructionsWithoutAGap) {
    own[0] = 110;
    of_sm[1] = 200;
    occupy(spec, ports, either, 100);
    EXPECT_EQ(own[0], 114);
}

using Units223 = TwoUnits;
TEST_F(Units223, ASetOfUnitsIsAvailableWithItsFirstFreeUnit) {
    const Resource set = unit_set_of(spec, either);
    EXPECT_EQ(set, kFirstUnitSet);
    EXPECT_EQ(unit_set_of(spec, either), set) << "the same units are the same set";
    EXPECT_EQ(unit_set_of(spec, Cost{.units = {{1, 16}}}), set + 1);
    own[0] = 50;
    of_sm[1] = 40;
    std::vector<double> available(kFirstUnitSet + 2, 0.0);
    update_available(spec, ports, available);
    EXPECT_EQ(available[set], 40);
}

}  // namespace
}  // namespace gputomo::sim
