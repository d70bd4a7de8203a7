#include "deduce/operand_banks.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace gputomo::deduce {
namespace {

/// Loops of one instruction each, of registers that nobody chose, on a file of that many banks and ports.
std::vector<OperandLoop> loops_on(int banks, int ports, double jitter) {
    std::mt19937 random(7);
    std::normal_distribution<double> error(0, 1);
    std::vector<OperandLoop> loops;
    for (int i = 0; i < 60; ++i) {
        std::vector<std::uint8_t> operands;
        while (operands.size() < 2U + i % 2) {
            const auto number = static_cast<std::uint8_t>(random() % 40);
            if (std::ranges::find(operands, number) == operands.end()) operands.push_back(number);
        }
        std::vector<int> reads(static_cast<std::size_t>(banks));
        for (const auto number : operands) ++reads[number % reads.size()];
        const int turns = (std::ranges::max(reads) + ports - 1) / ports;
        loops.push_back({{operands}, 4.0 * turns + jitter * error(random)});
    }
    return loops;
}

TEST(OperandBanks, AreThoseThatExplainTheTimes) {
    for (const auto& [banks, ports] : {std::pair{2, 1}, {4, 1}, {8, 1}, {3, 1}, {2, 2}}) {
        const auto found = operand_banks(loops_on(banks, ports, 0.1));
        ASSERT_EQ(found.files.size(), 1U) << banks << " banks, " << ports << " ports";
        EXPECT_EQ(found.files.front().banks, banks);
        EXPECT_EQ(found.files.front().ports, ports);
        EXPECT_GT(found.explained, 0.98);
        EXPECT_NEAR(found.conflict, 4, 0.2);
    }
}

TEST(OperandBanks, AreNotSpokenOfWhereAllLoopsTakeAsLong) { EXPECT_TRUE(operand_banks(loops_on(1, 3, 0.01)).alike); }

TEST(OperandBanks, AreNotBelievedOfTimesThatTheyDoNotExplain) {
    auto loops = loops_on(1, 3, 0.01);
    std::mt19937 random(3);
    for (auto& loop : loops) loop.cycles += static_cast<double>(random() % 4);
    EXPECT_LT(operand_banks(loops).explained, 0.5);
}

}  // namespace
}  // namespace gputomo::deduce
