// Warps and their twins on SMs of another partition, by hand-made arrivals.
#include "predict/launch/twin.hpp"

#include <gtest/gtest.h>

namespace gputomo::predict {
namespace {

TEST(Twin, IsBehindByWhatItWaitsLonger) {
    Twin twin;
    twin.issue(0);
    EXPECT_EQ(twin.lag(0), 0);
    twin.wait_for({600, 710});
    EXPECT_EQ(twin.lag(300), 0) << "the data are on their way";
    EXPECT_EQ(twin.lag(600), 110);
    twin.issue(650);
    EXPECT_EQ(twin.lag(650), 110) << "both compute equally long";
}

TEST(Twin, WaitsForTheLatestOfSeveralLines) {
    Twin twin;
    twin.issue(0);
    twin.wait_for({600, 710});
    twin.issue(1);  // the first line is on its way
    twin.wait_for({715, 601});
    EXPECT_EQ(twin.lag(715), -5);
}

TEST(Twin, MeetsAtABarrier) {
    Twin twin;
    twin.issue(0);
    twin.wait_for({600, 710});
    twin.meet(-3);
    EXPECT_EQ(twin.lag(1), -3);
    EXPECT_EQ(twin.lag(9999), -3);
}

TEST(Twin, IsAsLikelyAsAnotherSmOnTheOtherSide) {
    EXPECT_EQ(chance_of_twin(1), 0) << "nobody else reads the line";
    EXPECT_DOUBLE_EQ(chance_of_twin(0.5), 0.5);
    EXPECT_DOUBLE_EQ(chance_of_twin(0.25), 0.875);
    EXPECT_NEAR(chance_of_twin(1.0 / 132), 1, 1e-9);
}

}  // namespace
}  // namespace gputomo::predict
