// Behaviours 300 to 399: operands alone: register bank conflicts and the scoreboard.
#include "sim/sm/units/operands.hpp"

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

/// Cycles from the first to the last of two instructions that a scheduler chooses as soon as it is free.
double delay_of_second(const std::array<std::uint16_t, 4>& source, const costs::RegisterFile& file) {
    const auto reads = operand_reads(program_of({source, source}));
    costs::RegisterPorts ports(file);
    return ports.issue(reads[1], 0, ports.issue(reads[0], 0, 100) + 1) - 100;
}

TEST(Operands301, ABankThatIsReadTwiceDelaysTheNextInstruction) {
    EXPECT_EQ(delay_of_second({0, 2, 4, kNoSlot}, {.banks = 2}), 3);
    EXPECT_EQ(delay_of_second({0, 1, 2, kNoSlot}, {.banks = 2}), 2);
    EXPECT_EQ(delay_of_second({0, 2, 4, kNoSlot}, {.banks = 2, .ports = 2}), 2);
    EXPECT_EQ(delay_of_second({0, 1, 2, kNoSlot}, {.banks = 4}), 1);
    EXPECT_EQ(delay_of_second({0, 2, 4, kNoSlot}, {}), 1) << "no banks, no conflicts";
}

TEST(Operands302, ARegisterNamedTwiceIsReadOnceAndPredicatesAndConstantsNever) {
    EXPECT_EQ(delay_of_second({0, 0, 0, kNoSlot}, {.banks = 2}), 1);
    EXPECT_EQ(delay_of_second({0, 7, 8, kNoSlot}, {.banks = 2}), 1);
    EXPECT_EQ(delay_of_second({6, 6, kNoSlot, kNoSlot}, {.banks = 2}), 1) << "a 64-bit register lies in both banks";
    EXPECT_EQ(delay_of_second({6, 0, kNoSlot, kNoSlot}, {.banks = 2}), 2);
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
