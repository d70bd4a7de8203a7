// Which slow loads are misses and which are outliers.
#include "deduce/cache/chase/miss_latencies.hpp"

#include <gtest/gtest.h>

namespace gputomo::deduce::cache {
namespace {

/// Hits of 100 cycles, misses of 290 to 309, far misses of 380 to 389, outliers from 1500 on.
std::vector<double> readings(int misses, int far, int outliers) {
    std::vector<double> all(1000, 100);
    for (int i = 0; i < misses; ++i) all.push_back(290 + i % 20);
    for (int i = 0; i < far; ++i) all.push_back(380 + i % 10);
    for (int i = 0; i < outliers; ++i) all.push_back(1500 + 37 * i);
    return all;
}

TEST(MissLatencies, SlowLoadsFarFromTheMissesAreOutliers) {
    const MissLatencies misses(readings(300, 0, 6), 200);
    EXPECT_TRUE(misses.known());
    EXPECT_TRUE(misses.contains(290));
    EXPECT_TRUE(misses.contains(309));
    EXPECT_FALSE(misses.contains(700));
    EXPECT_FALSE(misses.contains(1500));
}

TEST(MissLatencies, ASmallerGroupOfMissesCountsToo) {
    EXPECT_TRUE(MissLatencies(readings(300, 100, 0), 200).contains(382));
}

TEST(MissLatencies, SlowerThanTwiceTheMissesIsNoMissEvenIfFrequent) {
    // Three times as far above the threshold as the misses.
    std::vector<double> all(300, 300);
    all.insert(all.end(), 100, 500);
    EXPECT_FALSE(MissLatencies(all, 200).contains(500));
    EXPECT_TRUE(MissLatencies(all, 200).contains(300));
}

TEST(MissLatencies, FewSlowLoadsExcludeNothing) {
    const MissLatencies misses(readings(15, 0, 0), 200);
    EXPECT_FALSE(misses.known());
    EXPECT_TRUE(misses.contains(5000));
    EXPECT_TRUE(MissLatencies().contains(1));
}

}  // namespace
}  // namespace gputomo::deduce::cache
