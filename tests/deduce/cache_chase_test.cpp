// Offsets at equal distances.
#include "deduce/cache/chase/chase.hpp"

#include <gtest/gtest.h>

namespace gputomo::deduce {
namespace {

using Offsets = std::vector<std::uint64_t>;

TEST(CacheChase, StridedOffsetsEndBelowTheSize) {
    EXPECT_EQ(strided(100, 32), (Offsets{0, 32, 64, 96}));
    EXPECT_EQ(strided(96, 32), (Offsets{0, 32, 64}));
    EXPECT_TRUE(strided(0, 32).empty());
}

TEST(CacheChase, TheStrideDoublesUntilFewEnoughOffsetsAreLeft) {
    EXPECT_EQ(strided(1024, 32, 8), (Offsets{0, 128, 256, 384, 512, 640, 768, 896}));
    EXPECT_EQ(strided(1024, 32, 32).size(), 32U);
    EXPECT_EQ(strided(1000, 32, 7).size(), 8U) << "one more offset is allowed";
}

}  // namespace
}  // namespace gputomo::deduce
