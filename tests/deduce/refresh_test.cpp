// Finds the refreshes of a made-up memory in pairs of loads of one part.
#include "deduce/memory/refresh.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <cstdint>
#include <fstream>
#include <random>
#include <stdexcept>
#include <vector>

namespace gputomo::deduce {
namespace {

struct RefreshedMemory {
    double near = 560, far = 750;  ///< cycles, of parts on either side
    double interval = 0, time = 0;
    double jitter = 3;  ///< standard deviation, cycles
    double outliers = 0;
    double back = 0;  ///< cycles by which one in seven loads that waited is back earlier
};

std::vector<LoadPair> made_up_pairs(const RefreshedMemory& memory, int count, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::normal_distribution<double> jitter(0, memory.jitter);
    std::uniform_real_distribution<double> share(0, 1);
    std::vector<LoadPair> pairs;
    for (int i = 0; i < count; ++i) {
        const double phase = share(random) * std::max(memory.interval, 1.0);
        const double base = share(random) < 0.5 ? memory.near : memory.far;
        const auto load = [&](double begin) {
            double end = begin + base + std::abs(jitter(random));
            if (memory.interval > 0)
                end += std::max(0.0, memory.time - std::fmod(begin + base + phase, memory.interval));
            if (end > begin + base + memory.back + 50 && share(random) < 1.0 / 7) end -= memory.back;
            if (share(random) < memory.outliers) end += 1000 * share(random);
            return LoadPair::Load{std::round(begin), std::round(end)};
        };
        const auto first = load(20'000.0 * i);
        pairs.push_back({first, load(first.end + 1500 + 18'000 * share(random))});
    }
    return pairs;
}

void expect_refreshes(const RefreshedMemory& memory) {
    for (const std::uint64_t seed : {1, 2, 3}) {
        const auto found = find_refresh(made_up_pairs(memory, 4096, seed));
        ASSERT_EQ(found.verdict, MemoryRefresh::Verdict::found) << found.why;
        EXPECT_NEAR(found.interval, memory.interval, 0.005 * memory.interval);
        EXPECT_NEAR(found.time, memory.time, 0.1 * memory.time);
        EXPECT_LE(found.time_low, found.time);
        EXPECT_GE(found.time_high, found.time);
    }
}

TEST(MemoryRefresh, FindsThoseOfAnH200) { expect_refreshes({.interval = 3813, .time = 553}); }
TEST(MemoryRefresh, FindsThemInOtherMemories) {
    expect_refreshes({.near = 400, .far = 400, .interval = 7800, .time = 700});
    expect_refreshes({.near = 300, .far = 330, .interval = 2900, .time = 450});
    expect_refreshes({.near = 900, .far = 1300, .interval = 9000, .time = 1500});
}
TEST(MemoryRefresh, FindsThemAmongOutliers) { expect_refreshes({.interval = 3813, .time = 553, .outliers = 0.01}); }

/// The lines of a pair belong to different sides of the last cache.
TEST(MemoryRefresh, FindsThemWhereDataComeFromTwoSides) {
    expect_refreshes({.interval = 3886, .time = 551, .back = 75});
}

/// 42 pairs both waited, of which ten ended 70 to 80 cycles beside a multiple of the interval.
TEST(MemoryRefresh, FindsThoseThatAnH200Showed) {
    std::ifstream file(GPUTOMO_SOURCE_DIR "/recordings/h200-cold-launch.json");
    std::vector<LoadPair> pairs;
    const auto recording = nlohmann::json::parse(file);
    for (const auto& trace : recording.at("traces")) {
        if (trace.at("name") != "memory_refresh/pairs") continue;
        const auto column = [&](std::size_t i) {
            return trace.at("columns").at(i).at("values").get<std::vector<double>>();
        };
        const auto apart = column(0), first = column(1), second = column(2);
        for (std::size_t i = 0; i < apart.size(); ++i) {
            const double end = first[i] + apart[i];
            pairs.push_back({{0, first[i]}, {end - second[i], end}});
        }
    }
    const auto found = find_refresh(pairs);
    ASSERT_EQ(found.verdict, MemoryRefresh::Verdict::found) << found.why;
    EXPECT_NEAR(found.interval, 3886, 10) << "cycles of 1,980 MHz: 1,963 ns";
    EXPECT_NEAR(found.time, 553, 25) << "279 ns";
}

TEST(MemoryRefresh, FindsNoneInAMemoryWithout) {
    EXPECT_EQ(find_refresh(made_up_pairs({}, 2048, 1)).verdict, MemoryRefresh::Verdict::none);
}

TEST(MemoryRefresh, LeavesWaitsOpenThatAreNotRegular) {
    const auto found = find_refresh(made_up_pairs({.outliers = 0.2}, 4096, 1));
    EXPECT_EQ(found.verdict, MemoryRefresh::Verdict::open) << found.interval;
    EXPECT_THROW((void)find_refresh({}), std::invalid_argument);
}

}  // namespace
}  // namespace gputomo::deduce
