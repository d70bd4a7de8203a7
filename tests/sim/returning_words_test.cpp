// When the words of a warp's loads are back, on examples that can be counted by hand.
#include "costs/returning_words.hpp"

#include <gtest/gtest.h>

namespace gputomo::costs {
namespace {

/// 32 words of one bank, two cycles apart.
ReturningWords::Load conflicting(double first, double last) {
    return {.first = first, .last = last, .cycles = 64, .spread = 62};
}

TEST(ReturningWords, ALoneLoadIsBackAfterItsSpread) {
    ReturningWords words;
    EXPECT_EQ(words.back(conflicting(100, 100)), 162);
    EXPECT_EQ(words.back({.first = 500, .last = 500, .cycles = 1, .spread = 0}), 500) << "the way back was idle";
}

TEST(ReturningWords, LoadsThatHitFollowEachOther) {
    ReturningWords words;
    for (int load = 0; load < 5; ++load) EXPECT_EQ(words.back(conflicting(100, 100)), 162 + 64 * load);
}

TEST(ReturningWords, WordsThatAreThereDoNotWaitForThoseOfAnEarlierLoadThatAreNot) {
    ReturningWords words;
    EXPECT_EQ(words.back(conflicting(570, 1100)), 1100);
    // The next loads want words of the same lines. While the slowest line of the first load is in flight, the words of
    // the others return, so that 16 loads take 16 times 64 cycles from the first word on.
    double done = 0;
    for (int load = 1; load < 16; ++load) done = words.back(conflicting(570, 1100));
    EXPECT_EQ(done, 570 + 15 * 64 + 62);
}

TEST(ReturningWords, AHitOvertakesAMiss) {
    ReturningWords words;
    EXPECT_EQ(words.back(conflicting(800, 900)), 900);
    EXPECT_EQ(words.back({.first = 130, .last = 130, .cycles = 1, .spread = 0}), 130);
}

}  // namespace
}  // namespace gputomo::costs
