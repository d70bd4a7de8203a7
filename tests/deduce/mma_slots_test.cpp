// Issue slots of matrix multiply-accumulates from the rates of mixes.
#include "deduce/pipeline/mma_slots.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace gputomo::deduce {
namespace {

/// The rate of `adds` adds and an MMA of `slots` issue slots on an SM that issues `width` instructions a cycle.
MmaMix mix(int adds, double slots, double width) { return {adds, (1 + adds) * width / (adds + slots)}; }

TEST(MmaSlots, AreTheSlotsThatTheMmaTakes) {
    const std::vector<MmaMix> mixes{mix(16, 5.5, 3.9), mix(64, 5.5, 3.9)};
    const auto found = mma_slots(mixes, 3.9);
    EXPECT_TRUE(found.agree);
    EXPECT_NEAR(found.slots, 5.5, 1e-9);
    EXPECT_NEAR(found.by_mix[0], 5.5, 1e-9);
    EXPECT_NEAR(found.by_mix[1], 5.5, 1e-9);
    // 0.3% of 69.5 slots, those of the larger group, on either side.
    EXPECT_NEAR(found.interval[0], 5.5 - 0.2085, 1e-9);
    EXPECT_NEAR(found.interval[1], 5.5 + 0.2085, 1e-9);
}

TEST(MmaSlots, OfAnMmaThatIssuesAsAnAddDoesAreOne) {
    const std::vector<MmaMix> mixes{{16, 4.01}, {64, 4.0}};
    const auto found = mma_slots(mixes, 4);
    EXPECT_EQ(found.slots, 1) << "an instruction takes at least its own slot";
    EXPECT_EQ(found.interval[0], 1);
}

TEST(MmaSlots, DoNotAgreeWhereSomethingElseLimitsAMix) {
    const std::vector<MmaMix> mixes{mix(16, 8, 3.9), mix(64, 5.5, 3.9)};
    const auto found = mma_slots(mixes, 3.9);
    EXPECT_FALSE(found.agree);
    EXPECT_NEAR(found.least, 5.5, 1e-9);
    EXPECT_NEAR(found.most, 8, 1e-9);
}

TEST(MmaLatency, ToAnAddIsWhatThePairTakesBeyondTheAdd) { EXPECT_EQ(mma_to_add_latency(15.5, 4), 27); }

}  // namespace
}  // namespace gputomo::deduce
