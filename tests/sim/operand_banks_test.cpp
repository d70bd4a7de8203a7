#include "sim/sm/operand_banks.hpp"

#include <gtest/gtest.h>

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

TEST(OperandWaits, AreTheFurtherTurnsOfTheFullestBank) {
    const auto program =
        program_of({{0, 1, 2, kNoSlot}, {0, 2, 4, kNoSlot}, {0, 1, kNoSlot, kNoSlot}, {1, 3, 5, kNoSlot}});
    EXPECT_EQ(operand_waits(program, {2, 1}), (std::vector<std::uint8_t>{1, 2, 0, 2}));
    EXPECT_EQ(operand_waits(program, {2, 2}), (std::vector<std::uint8_t>{0, 1, 0, 1}));
    EXPECT_EQ(operand_waits(program, {4, 1}), (std::vector<std::uint8_t>{0, 1, 0, 1}));
}

TEST(OperandWaits, CountARegisterOnceAndNeitherPredicatesNorConstants) {
    const auto program =
        program_of({{0, 0, 0, kNoSlot}, {0, 7, 8, kNoSlot}, {6, 6, kNoSlot, kNoSlot}, {6, 0, kNoSlot, kNoSlot}});
    EXPECT_EQ(operand_waits(program, {2, 1}), (std::vector<std::uint8_t>{0, 0, 0, 1}))
        << "a 64-bit register lies in both banks";
}

TEST(OperandWaits, AreNoneWhereNoBanksAreDescribed) {
    EXPECT_EQ(operand_waits(program_of({{0, 2, 4, kNoSlot}}), {}), std::vector<std::uint8_t>{0});
}

}  // namespace
}  // namespace gputomo::sim
