// Behaviours 300 to 399: operands alone: register bank conflicts and the scoreboard.
#include "sim/sm/operands.hpp"
#include "sim/sm/scheduler.hpp"

#include <gtest/gtest.h>

#include <array>

namespace gputomo::sim {
namespace {

/// Registers 0 to 5 of 32 bits, then one of 64 bits, a predicate, and a constant.
Program program_of(const std::vector<std::array<std::uint16_t, 4>>& sources) {
    Program program;
    program.register_words = {1, 1, 1, 1, 1, 1, 2, 0, 0};
    program.register_slots = 8;
    for (const auto& source : sources) program.operations.push_back({.source = source});
    return program;
}

TEST(Operands301, ABankConflictDelaysTheSchedulerByOneSlotForEachFurtherRead) {
    constexpr std::array<std::uint32_t, 3> kSameBank{0, 2, 4}, kTwoAndOne{0, 1, 2};
    const SchedulerSpec spec{.issue_interval = 2};
    const auto free_after = [&](std::span<const std::uint32_t> registers, OperandBanks file) {
        Scheduler scheduler;
        take_slots(spec, scheduler, 1 + bank_conflict_slots(registers, file), 100);
        return scheduler.free;
    };
    EXPECT_EQ(free_after(kSameBank, {.banks = 2, .ports = 1}), 106);
    EXPECT_EQ(free_after(kTwoAndOne, {.banks = 2, .ports = 1}), 104);
    EXPECT_EQ(free_after(kSameBank, {.banks = 2, .ports = 2}), 104);
    EXPECT_EQ(free_after(kTwoAndOne, {.banks = 4, .ports = 1}), 102);
    EXPECT_EQ(free_after(kSameBank, {.banks = 0}), 102) << "no banks, no conflicts";
}

TEST(Operands302, TheFullestBankDecides) {
    const auto program =
        program_of({{0, 1, 2, kNoSlot}, {0, 2, 4, kNoSlot}, {0, 1, kNoSlot, kNoSlot}, {1, 3, 5, kNoSlot}});
    EXPECT_EQ(bank_conflict_slots(program, {2, 1}), (std::vector<std::uint8_t>{1, 2, 0, 2}));
    EXPECT_EQ(bank_conflict_slots(program, {2, 2}), (std::vector<std::uint8_t>{0, 1, 0, 1}));
    EXPECT_EQ(bank_conflict_slots(program, {4, 1}), (std::vector<std::uint8_t>{0, 1, 0, 1}));
}

TEST(Operands303, ARegisterNamedTwiceIsReadOnceAndPredicatesAndConstantsNever) {
    const auto program =
        program_of({{0, 0, 0, kNoSlot}, {0, 7, 8, kNoSlot}, {6, 6, kNoSlot, kNoSlot}, {6, 0, kNoSlot, kNoSlot}});
    EXPECT_EQ(bank_conflict_slots(program, {2, 1}), (std::vector<std::uint8_t>{0, 0, 0, 1}))
        << "a 64-bit register lies in both banks";
}

TEST(Operands304, WithoutBanksNothingConflicts) {
    EXPECT_EQ(bank_conflict_slots(program_of({{0, 2, 4, kNoSlot}}), {}), std::vector<std::uint8_t>{0});
}

// ---- scoreboard ----------------------------------------------------------------------------------------------------

struct ScoreboardOfThree : testing::Test {
    Scoreboard scoreboard;
    ScoreboardOfThree() { reset(scoreboard, 3, 100); }
    [[nodiscard]] double ready(std::vector<std::uint16_t> slots, bool on_cores = false) const {
        return operands_ready(scoreboard, slots, on_cores, 100);
    }
};

using Operands321 = ScoreboardOfThree;
TEST_F(Operands321, AnInstructionWaitsForTheLastOfItsOperands) {
    write_back(scoreboard, std::array<std::uint16_t, 1>{1}, 124);
    write_back(scoreboard, std::array<std::uint16_t, 1>{2}, 540);
    EXPECT_EQ(ready({0}), 100);
    EXPECT_EQ(ready({0, 1}), 124);
    EXPECT_EQ(ready({0, 1, 2}), 540);
}

using Operands322 = ScoreboardOfThree;
TEST_F(Operands322, AResultCanComeLaterForTheCudaCores) {
    write_back(scoreboard, std::array<std::uint16_t, 1>{1}, 124, 6);
    EXPECT_EQ(ready({1}), 124);
    EXPECT_EQ(ready({1}, true), 130);
}

using Operands323 = ScoreboardOfThree;
TEST_F(Operands323, AWarpWithAllItsLoadsInFlightWaitsForTheFirstToComplete) {
    scoreboard.loads = {700, 500, 600};
    EXPECT_EQ(load_allowed(scoreboard, 4, 110), 110);
    EXPECT_EQ(load_allowed(scoreboard, 3, 110), 500);
    EXPECT_EQ(load_allowed(scoreboard, 3, 550), 550) << "one has completed";
    EXPECT_EQ(scoreboard.loads.size(), 2U) << "and is forgotten";
}

}  // namespace
}  // namespace gputomo::sim
