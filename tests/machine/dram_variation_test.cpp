// Latencies of lines of DRAM spread evenly around their mean.
#include "machine/dram_variation.hpp"

#include "units/error.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include <algorithm>
#include <cstdint>
#include <vector>

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

TEST(DramVariation, RangeOfOnePartitionLacksWhatTheOtherAdds) {
    Path path;
    path.memory_latency_line_range.set({444, 946});
    path.memory_far_extra.set(185);
    // An H200's lines of one partition: a standard deviation of 113 to 128 cycles, and 138 to 154 of all.
    EXPECT_NEAR(line_range(path) / std::sqrt(12), 112, 1);
    path.memory_far_extra.set(400);
    EXPECT_EQ(line_range(path), 0);
}

TEST(Refresh, WaitsEndTogetherAndHaveTheDescribedMean) {
    const Refresh refresh{.interval = 3813, .time = 553};
    double sum = 0, squares = 0;
    constexpr int kReads = 200'000;
    for (int i = 0; i < kReads; ++i) {
        const double wait = refresh.wait(static_cast<std::uint64_t>(i) * 4096, i * 1.37);
        sum += wait;
        squares += wait * wait;
    }
    EXPECT_NEAR(sum / kReads, refresh.mean_wait(), 0.5);
    EXPECT_NEAR(squares / kReads - sum / kReads * sum / kReads, refresh.variance(), 0.02 * refresh.variance());
    EXPECT_EQ(Refresh{}.wait(0, 0), 0);
    for (double now = 0; now < 3 * refresh.interval; now += 50) {
        const double wait = refresh.wait(512, now);
        if (wait <= 50) continue;
        EXPECT_NEAR(refresh.wait(512 + 128, now + 40), wait - 40, 1e-6) << "a line of the same part";
    }
}

TEST(Refresh, MedianOfReadsRisesByLessThanTheirMean) {
    const Refresh refresh{.interval = 3813, .time = 553};
    for (const double spread : {0.0, 20.0, 300.0, 2000.0}) {
        std::vector<double> reads;
        for (int i = 0; i < 100'000; ++i)
            reads.push_back(spread * (i % 1000 - 499.5) / 1000 +
                            refresh.wait(static_cast<std::uint64_t>(i) * 4096, i * 1.37));
        std::ranges::nth_element(reads, reads.begin() + 50'000);
        EXPECT_NEAR(refresh.median_wait(spread), reads[50'000], 0.01 * spread + 0.5) << spread;
        EXPECT_LT(refresh.median_wait(spread), refresh.mean_wait() + 0.5);
    }
    EXPECT_EQ(Refresh{}.median_wait(300), 0);
}

TEST(Refresh, LatenciesOfLinesDifferByLessWhereRefreshesAreKnown) {
    Path path;
    path.memory_latency_line_range.set({444, 946});
    path.memory_far_extra.set(185);
    // What an H200's chains show is the far side and its refreshes.
    EXPECT_LT(line_range(path, {.interval = 3813, .time = 540}), 100);
    EXPECT_NEAR(line_range(path, {.interval = 3813, .time = 200}), 380, 10);
}

TEST(FarMemory, IsTheMeanLatencyOverPartitions) {
    Path path;
    Cache last;
    path.memory_far_extra.set(180);
    path.memory_far_request.set(70);
    EXPECT_EQ(far_memory(path, last).extra, 0) << "one partition has nothing far";
    last.partitions.set(2);
    const FarMemory two = far_memory(path, last);
    EXPECT_EQ(two.beyond_mean(true), 90);
    EXPECT_EQ(two.beyond_mean(false), -90);
    EXPECT_EQ(two.response(), 110);
    last.partitions.set(4);
    const FarMemory four = far_memory(path, last);
    EXPECT_EQ(four.beyond_mean(true) - four.beyond_mean(false), 180);
    EXPECT_EQ(3 * four.beyond_mean(true) + four.beyond_mean(false), 0);
    path.memory_far_request.set(500);
    EXPECT_EQ(far_memory(path, last).response(), 0) << "no answer arrives before it was sent";
}

TEST(FarMemory, PartitionsHaveEquallyManyPiecesOfEachPowerOfTwo) {
    for (const std::uint64_t stride : {4096, 8192, 65536, 1 << 21}) {
        int first = 0;
        for (std::uint64_t i = 0; i < 4096; ++i) first += partition_of(i * stride, 2) == 0 ? 1 : 0;
        EXPECT_NEAR(first, 2048, 256) << stride;
    }
}

TEST(Refresh, LinesNearEachOtherShareParts) {
    Memory memory;
    memory.refresh_interval.set(1926.0);
    memory.refresh_time.set(279.0);
    const auto alike = [&](const Refresh& refresh, std::uint64_t apart, std::uint64_t block) {
        int same = 0, pairs = 0;
        for (std::uint64_t at = 0; at < (64U << 20); at += 37 * kVariationBytes) {
            const std::uint64_t first = at / block * block;
            ++pairs, same += refresh.part(first) == refresh.part(first + apart) ? 1 : 0;
        }
        return static_cast<double>(same) / pairs;
    };
    const double chance = 1.0 / Refresh::kParts;
    const Refresh alone = refresh_of(memory, 1980);
    EXPECT_NEAR(alike(alone, 512, 1024), chance, 0.02);
    memory.refresh_parts.set({1024, 2, 4096, 10, 32768, 20});
    const Refresh grouped = refresh_of(memory, 1980);
    EXPECT_EQ(alike(grouped, 512, 1024), 1) << "two parts of 1 KiB take turns";
    EXPECT_NEAR(alike(grouped, 256, 1024), 0.1 + 0.05 + chance, 0.03);
    EXPECT_NEAR(alike(grouped, 2048, 4096), 0.1 + 0.05 + chance, 0.03);
    EXPECT_NEAR(alike(grouped, 16384, 32768), 0.05 + chance, 0.03);
    EXPECT_NEAR(alike(grouped, 1U << 20, 1U << 20), chance, 0.02);
}

TEST(Refresh, PartsAreBlocksThatGrow) {
    Memory memory;
    memory.refresh_interval.set(1926.0);
    memory.refresh_time.set(279.0);
    for (const std::vector<std::int64_t>& parts : {std::vector<std::int64_t>{1024},
                                                   {1024, 0},
                                                   {4096, 10, 1024, 2},
                                                   {0, 1},
                                                   {1024, 2, 1024, 2},
                                                   {300, 2},
                                                   {128, 2},
                                                   {1024, 65}}) {
        memory.refresh_parts.set(parts);
        EXPECT_THROW((void)refresh_of(memory, 1980), InputError);
    }
    memory.refresh_parts.set({});
    EXPECT_TRUE(refresh_of(memory, 1980).groups.empty());
}

TEST(DramVariation, MeasuredLatenciesReplaceWhatMediansAndRangesSay) {
    Path path;
    path.memory_latency.set(695);
    path.memory_latency_line_range.set({444, 946});
    path.memory_far_extra.set(185);
    const Refresh refresh{.interval = 3813, .time = 553};
    const double guessed = refresh_wait_of(path, refresh);
    EXPECT_GT(guessed, 0);
    EXPECT_EQ(line_range(path, refresh), 0);
    path.memory_latency_unrefreshed.set(638);
    path.memory_latency_partition_range.set(82);
    EXPECT_EQ(refresh_wait_of(path, refresh), 57);
    EXPECT_EQ(line_range(path, refresh), 82);
}

}  // namespace
}  // namespace gputomo::machine
