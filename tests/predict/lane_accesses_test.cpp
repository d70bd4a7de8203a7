// Transactions and bank conflicts of single accesses: Volkov 2016, 2.5 and 2.6, with 4 threads, transactions of 4 words
// and 4 banks, and some of real size.
#include "predict/static/lane_accesses.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace gputomo::predict {
namespace {

using ::testing::ElementsAre;
using Words = std::vector<std::int64_t>;

std::set<std::int64_t> of_four(const Words& words) { return blocks_touched(words, 1, 4); }
std::size_t ways(const Words& words) { return conflict_ways(words, 1, 4, 1); }

TEST(Coalescing, GivesFigure21) {
    EXPECT_THAT(of_four({0, 1, 2, 3}), ElementsAre(0));
    EXPECT_THAT(of_four({1, 2, 3, 4}), ElementsAre(0, 1));
    EXPECT_THAT(of_four({0, 3, 6, 9}), ElementsAre(0, 1, 2));
    EXPECT_THAT(of_four({2, 4, 13, 11}), ElementsAre(0, 1, 2, 3));
}

TEST(Coalescing, AccessMayTouchTwoBlocks) {
    EXPECT_THAT(blocks_touched(Words{28}, 8, 32), ElementsAre(0, 1));
    EXPECT_THAT(blocks_touched(Words{24}, 8, 32), ElementsAre(0));
    EXPECT_THAT(blocks_touched(Words{}, 8, 32), ElementsAre());
}

TEST(BankConflicts, GiveFigure22) {
    EXPECT_EQ(ways({0, 1, 2, 3}), 1U);
    EXPECT_EQ(ways({0, 2, 4, 6}), 2U);
    EXPECT_EQ(ways({0, 3, 6, 9}), 1U);
    EXPECT_EQ(ways({0, 4, 8, 12}), 4U);
    EXPECT_EQ(ways({1, 1, 1, 2}), 1U);
    EXPECT_EQ(ways({1, 3, 5, 8}), 2U);
}

TEST(BankConflicts, SupportWideWordsAndAnyNumberOfBanks) {
    EXPECT_EQ(conflict_ways(Words{0, 64, 128}, 8, 16, 4), 3U);   // each takes two banks, all the same ones
    EXPECT_EQ(conflict_ways(Words{0, 8, 16, 24}, 8, 4, 8), 1U);  // banks of 8 bytes
    EXPECT_EQ(conflict_ways(Words{0, 12, 24}, 4, 3, 4), 3U);
    EXPECT_EQ(conflict_ways(Words{}, 4, 32, 4), 1U);
}

}  // namespace
}  // namespace gputomo::predict
