// Levels of a memory path from arrays of growing size.
#include "deduce/cache/levels/levels.hpp"

#include <gtest/gtest.h>

#include <random>

namespace gputomo::deduce {
namespace {

TEST(Levels, DropsTheTransitionBetweenTwoLevels) {
    // A hashed cache of 64 KiB: at its size and twice that, some loads still hit.
    std::mt19937_64 random(5);
    const Chase chase = [&](const ChaseRequest& r) {
        ChaseTrace trace;
        const double bytes = static_cast<double>(r.offsets.size()) * 256;
        const double hits = bytes <= 32768 ? 1 : bytes <= 65536 ? 0.7 : bytes <= 131072 ? 0.3 : 0;
        for (std::size_t i = 0; i < r.offsets.size(); ++i)
            trace.latencies.push_back(static_cast<double>(random() % 1000) < 1000 * hits ? 30
                                      : bytes <= 65536 ? 200 + static_cast<double>(random() % 20)
                                                       : 300 + static_cast<double>(random() % 20));
        return trace;
    };
    const auto sweep = deduce_levels(chase, {.largest = 1 << 20});
    ASSERT_EQ(sweep.levels.size(), 2U);
    EXPECT_EQ(sweep.levels[0].overflows, 65536U);
    EXPECT_NEAR(sweep.levels[1].latency, 310, 6);
}

TEST(Levels, FindsALevelOfWhichOnlyOneLoadInALineMisses) {
    // Only one load in eight can miss.
    const Chase chase = [](const ChaseRequest& r) {
        ChaseTrace trace;
        for (std::size_t i = 0; i < r.offsets.size(); ++i)
            trace.latencies.push_back(r.offsets.size() * 32 > 8192 && i % 8 == 0 ? 140 : 90);
        return trace;
    };
    const auto sweep = deduce_levels(chase, {.largest = 1 << 18, .stride = 32});
    ASSERT_EQ(sweep.levels.size(), 2U);
    EXPECT_EQ(sweep.levels[0].fits, 8192U);
    EXPECT_EQ(sweep.levels[1].latency, 140);
}

TEST(Levels, TakesASpreadLatencyForOneLevel) {
    std::mt19937_64 random(3);
    const Chase chase = [&](const ChaseRequest& r) {
        ChaseTrace trace;
        const bool near = r.offsets.size() * 256 <= 16384;
        for (std::size_t i = 0; i < r.offsets.size(); ++i)
            trace.latencies.push_back(near ? 33 : 262 + static_cast<double>(random() % 39));
        return trace;
    };
    const auto sweep = deduce_levels(chase, {.largest = 1 << 20});
    ASSERT_EQ(sweep.levels.size(), 2U);
    EXPECT_EQ(sweep.levels[0].fits, 16384U);
    EXPECT_NEAR(sweep.levels[1].latency, 281, 5);
}

TEST(Levels, TriesSizesBetweenThePowersOfTwoWhereAsked) {
    // 12 KiB fit, 16 KiB do not.
    const Chase chase = [](const ChaseRequest& r) {
        return ChaseTrace{std::vector<double>(r.offsets.size(), r.offsets.size() * 256 <= 12288 ? 30 : 200)};
    };
    const auto sweep = deduce_levels(chase, {.largest = 1 << 16, .half_octaves = true});
    ASSERT_EQ(sweep.levels.size(), 2U);
    EXPECT_EQ(sweep.levels[0].fits, 12288U);
    EXPECT_EQ(sweep.levels[0].overflows, 16384U);
    EXPECT_EQ(deduce_levels(chase, {.largest = 1 << 16}).levels[0].fits, 8192U);
}

TEST(Levels, ReadsLargeArraysWithADoubledStride) {
    std::size_t most = 0;
    const Chase chase = [&](const ChaseRequest& r) {
        most = std::max(most, r.offsets.size());
        return ChaseTrace{std::vector<double>(r.offsets.size(), 30)};
    };
    const auto sweep = deduce_levels(chase, {.largest = 1 << 20, .stride = 64, .max_pass_loads = 1024});
    EXPECT_EQ(most, 1024U);
    EXPECT_EQ(sweep.points.back().stride, 1024U);
    EXPECT_EQ(sweep.levels.size(), 1U);
}

}  // namespace
}  // namespace gputomo::deduce
