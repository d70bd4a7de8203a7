// Latencies of lines of DRAM spread evenly around their mean.
#include "machine/dram_variation.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>

namespace gputomo::machine {
namespace {

TEST(DramVariation, DistancesSpreadEvenlyFromHalfBelowToHalfAbove) {
    double sum = 0, squares = 0, low = 1, high = -1;
    constexpr int kBlocks = 100'000;
    for (std::uint64_t block = 0; block < kBlocks; ++block) {
        const double distance = line_distance(block * kVariationBytes);
        sum += distance, squares += distance * distance;
        low = std::min(low, distance), high = std::max(high, distance);
    }
    EXPECT_DOUBLE_EQ(low, -0.5);
    EXPECT_DOUBLE_EQ(high, 0.5);
    EXPECT_NEAR(sum / kBlocks, 0, 0.005);
    EXPECT_NEAR(squares / kBlocks, 17.0 / 15 / 12, 0.002) << "the variance of 16 equally likely places";
}

TEST(DramVariation, BytesOfOneBlockAreEquallyFarAway) {
    for (std::uint64_t block = 0; block < 100; ++block) {
        const std::uint64_t first = block * kVariationBytes;
        EXPECT_DOUBLE_EQ(line_distance(first), line_distance(first + kVariationBytes - 1));
    }
}

TEST(DramVariation, RangeIsZeroUnlessBothEndsAreDescribed) {
    Path path;
    EXPECT_DOUBLE_EQ(line_range(path), 0);
    path.memory_latency_line_range.set({440});
    EXPECT_DOUBLE_EQ(line_range(path), 0);
    path.memory_latency_line_range.set({440, 940});
    EXPECT_DOUBLE_EQ(line_range(path), 500);
}

}  // namespace
}  // namespace gputomo::machine
