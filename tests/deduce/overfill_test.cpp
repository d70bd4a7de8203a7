// Capacity and partitions of a cache from arrays around and beyond it.
#include "deduce/cache/levels/overfill.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <fstream>
#include <random>
#include <string>

namespace gputomo::deduce {
namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

/// Cycles: hits, misses that another partition serves, misses that memory serves; loads above the border missed.
constexpr double kHit = 280, kFar = 450, kMemory = 700, kBorder = 360;

/// Loads of an array of which the share `hits` hits, and `far` of the misses are served by another partition.
OverfillReading reading(std::uint64_t bytes, double hits, double far = 0) {
    OverfillReading made{bytes, {}};
    std::mt19937_64 random(bytes);
    const auto chance = [&](double odds) { return static_cast<double>(random() % 10'000) < 10'000 * odds; };
    for (int i = 0; i < 4096; ++i)
        made.latencies.push_back((chance(hits)  ? kHit
                                  : chance(far) ? kFar
                                                : kMemory) +
                                 static_cast<double>(random() % 40));
    return made;
}

/// LRU with sets of unequal fill: hits end around the capacity.
double soft_cliff(double bytes, double capacity) { return 1 / (1 + std::exp((bytes / capacity - 1) * 60)); }

TEST(Overfill, TheCapacityIsTheSizeOfWhichHalfStillHits) {
    std::vector<OverfillReading> readings;
    for (std::uint64_t m = 8; m <= 64; m += 2)
        readings.push_back(reading(m * kMiB, soft_cliff(static_cast<double>(m), 21)));
    const auto found = deduce_overfill(readings, kBorder);
    ASSERT_TRUE(found.capacity);
    EXPECT_NEAR(static_cast<double>(*found.capacity) / kMiB, 21, 0.5);
    EXPECT_LE(found.bracket[0], 21 * kMiB);
    EXPECT_GE(found.bracket[1], 21 * kMiB);
    EXPECT_EQ(found.partitions, 0);
}

TEST(Overfill, LeavesTheCapacityOpenUnderRandomReplacement) {
    // Random replacement: m = 1 - exp(-m n / W) of the loads miss in an array of n lines.
    std::vector<OverfillReading> readings;
    for (std::uint64_t m = 8; m <= 64; m += 2) {
        double missing = 1;
        for (int i = 0; i < 200; ++i) missing = 1 - std::exp(-missing * static_cast<double>(m) / 21);
        readings.push_back(reading(m * kMiB, m <= 20 ? 1 : 1 - missing));
    }
    EXPECT_FALSE(deduce_overfill(readings, kBorder).capacity);
}

TEST(Overfill, AConstantShareFasterThanMemoryShowsPartitions) {
    for (const int parts : {2, 4}) {
        std::vector<OverfillReading> readings;
        for (std::uint64_t m = 8; m <= 96; m += 2) {
            const double far = m < static_cast<std::uint64_t>(21 * parts) ? 1 - 1.0 / parts : 0;
            readings.push_back(reading(m * kMiB, soft_cliff(static_cast<double>(m), 21), far));
        }
        const auto found = deduce_overfill(readings, kBorder);
        EXPECT_EQ(found.partitions, parts);
        EXPECT_NEAR(found.far_latency, kFar + 20, 5);
    }
}

TEST(Overfill, ReportsNothingFromFewSizes) {
    EXPECT_FALSE(deduce_overfill({}, kBorder).capacity);
    EXPECT_FALSE(deduce_overfill({reading(kMiB, 0)}, kBorder).capacity);
    EXPECT_FALSE(deduce_overfill({reading(kMiB, 1), reading(2 * kMiB, 1)}, kBorder).capacity);
}

TEST(Overfill, AnH200KeepsThirtyMebibytesForOneSmInTwoPartitions) {
    std::ifstream stream(std::string(GPUTOMO_SOURCE_DIR) + "/recordings/h200-l2-overfill.json");
    const auto json = nlohmann::json::parse(stream);
    std::vector<OverfillReading> readings;
    for (const auto& recorded : json.at("readings")) {
        OverfillReading one{recorded.at("bytes").get<std::uint64_t>(), {}};
        for (std::size_t i = 0; i < recorded.at("loads").size(); ++i)
            one.latencies.insert(one.latencies.end(), recorded.at("loads").at(i).get<std::size_t>(),
                                 recorded.at("latency").at(i).get<double>());
        readings.push_back(std::move(one));
    }
    const auto found = deduce_overfill(readings, kBorder);
    ASSERT_TRUE(found.capacity);
    EXPECT_NEAR(static_cast<double>(*found.capacity) / kMiB, 30, 1) << "half of the 60 MiB that the driver names";
    EXPECT_EQ(found.partitions, 2);
    EXPECT_NEAR(found.far_latency, 450, 15);
}

}  // namespace
}  // namespace gputomo::deduce
