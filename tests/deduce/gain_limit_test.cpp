// The size up to which a gain grows: plateaus, falls and scatter.
#include "deduce/series/gain_limit.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace gputomo::deduce {
namespace {

TEST(GainLimit, IsTheSizeUpToWhichTheGainGrows) {
    std::vector<double> sizes, collapsing, staying, scattered;
    for (int i = 1; i <= 24; ++i) {
        sizes.push_back(64.0 * i);
        collapsing.push_back(i <= 12 ? 10.0 * i + i % 2 : -40 - i % 3);
        staying.push_back(10.0 * std::min(i, 12) + i % 2);
        scattered.push_back(i * 7919 % 101 - 50);
    }
    EXPECT_EQ(gain_limit(sizes, collapsing)->last, 768);
    EXPECT_NEAR(gain_limit(sizes, staying)->last, 768, 64);
    EXPECT_FALSE(gain_limit(sizes, scattered).has_value());
    EXPECT_FALSE(gain_limit(sizes, sizes).has_value()) << "still growing";
    EXPECT_FALSE(gain_limit(std::vector<double>{1, 2}, std::vector<double>{1, 2}).has_value());
}

std::vector<double> sizes_up_to(int count) {
    std::vector<double> sizes;
    for (int i = 1; i <= count; ++i) sizes.push_back(64.0 * i);
    return sizes;
}

TEST(GainLimit, IsTheFullGainIfAPlateauFollows) {
    const auto limit = gain_limit(sizes_up_to(8), std::vector<double>{10, 20, 30, 40, 40, 40, 40, 40});
    ASSERT_TRUE(limit.has_value());
    EXPECT_EQ(limit->last, 256);
    EXPECT_EQ(limit->next, 320);
}

TEST(GainLimit, IsTheLastFullGainIfAFallFollowsSoon) {
    // The gain is full from 256 on, stays so up to 320 and falls at 384, which is 1.5 times 256.
    const auto limit = gain_limit(sizes_up_to(8), std::vector<double>{10, 20, 30, 40, 40, 20, 10, 0});
    ASSERT_TRUE(limit.has_value());
    EXPECT_EQ(limit->last, 320);
    EXPECT_EQ(limit->next, 384);
}

TEST(GainLimit, IsTheStartOfThePlateauIfTheFallComesLate) {
    const auto limit = gain_limit(sizes_up_to(8), std::vector<double>{10, 20, 30, 40, 40, 40, 20, 0});
    ASSERT_TRUE(limit.has_value());
    EXPECT_EQ(limit->last, 256);
}

TEST(GainLimit, NeedsAGainBeyondScatter) {
    // The median value is off the mean of its neighbours by 2, so a gain must exceed 6 times 2.
    const std::vector<double> sizes = sizes_up_to(7);
    EXPECT_TRUE(gain_limit(sizes, std::vector<double>{0, 2, 0, 15, 13, 15, 13}).has_value());
    EXPECT_FALSE(gain_limit(sizes, std::vector<double>{0, 2, 0, 11, 9, 11, 9}).has_value());
    EXPECT_FALSE(gain_limit(sizes, std::vector<double>(7, 0.0)).has_value()) << "no gain at all";
}

TEST(GainLimit, IsUnknownIfTheLastSizeGainsMostOrSizesAreFew) {
    EXPECT_FALSE(gain_limit(sizes_up_to(6), std::vector<double>{10, 20, 30, 40, 50, 60}).has_value());
    EXPECT_FALSE(gain_limit(sizes_up_to(4), std::vector<double>{10, 40, 40, 40}).has_value()) << "four sizes";
    EXPECT_FALSE(gain_limit(sizes_up_to(6), std::vector<double>{10, 40, 40, 40, 40}).has_value())
        << "sizes without gain";
}

}  // namespace
}  // namespace gputomo::deduce
