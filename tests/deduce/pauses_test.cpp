// Finds the pauses of a made-up memory. Each chain waits for its load, then does other things for a while.
#include "deduce/memory/pauses.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <random>
#include <stdexcept>
#include <vector>

namespace gputomo::deduce {
namespace {

struct Memory {
    double latency = 300;
    double interval = 0, pause = 0;  ///< cycles; 0: no pauses
    double jitter = 0;               ///< standard deviation, cycles
    double outliers = 0;             ///< share of the loads that take `kOutlier` cycles longer
    double hits = 0;                 ///< share of the loads that a cache answers
    bool irregular = false;          ///< pauses come at random, `interval` cycles apart on average
};

constexpr std::uint32_t kChains = 8;
constexpr double kOutlier = 400;

std::vector<TimedLoad> loads_of(const Memory& memory, double span, std::uint64_t seed = 1) {
    std::mt19937_64 random(seed);
    std::normal_distribution<double> jitter(0, memory.jitter > 0 ? memory.jitter : 1);
    std::uniform_real_distribution<double> share(0, 1);
    std::vector<double> pauses;
    if (memory.interval > 0)
        for (double at = memory.interval / 3; at < span;
             at += memory.interval * (memory.irregular ? -std::log(1 - share(random)) : 1))
            pauses.push_back(at);
    std::vector<TimedLoad> loads;
    for (std::uint32_t chain = 0; chain < kChains; ++chain) {
        std::size_t next = 0;
        for (double now = 7.0 * chain; now < span;) {
            while (next < pauses.size() && pauses[next] + memory.pause <= now) ++next;
            double taken = memory.latency + (memory.jitter > 0 ? jitter(random) : 0);
            if (share(random) < memory.hits)
                taken = memory.latency / 2;
            else if (next < pauses.size() && now >= pauses[next])
                taken += pauses[next] + memory.pause - now;
            if (share(random) < memory.outliers) taken += kOutlier;
            loads.push_back({std::round(now), std::round(now + taken), chain});
            now += taken + 20 + 17.0 * chain;
        }
    }
    return loads;
}

void expect_found(const Memory& memory, double span, double tolerance) {
    for (const std::uint64_t seed : {1, 2, 3}) {
        const auto found = find_pauses(loads_of(memory, span, seed));
        ASSERT_EQ(found.verdict, MemoryPauses::Verdict::regular) << found.why;
        EXPECT_NEAR(found.interval, memory.interval, 0.005 * memory.interval);
        EXPECT_NEAR(found.duration, memory.pause, tolerance * memory.pause);
        EXPECT_LE(found.duration_low, found.duration);
        EXPECT_GE(found.duration_high, found.duration);
    }
}

TEST(MemoryPauses, FindsPausesShorterThanALatency) { expect_found({.interval = 8430, .pause = 225}, 2e6, 0.02); }
TEST(MemoryPauses, FindsPausesLongerThanALatency) {
    expect_found({.latency = 700, .interval = 178'000, .pause = 1390}, 1e7, 0.03);
}
TEST(MemoryPauses, FindsPausesThatDelayFewChains) { expect_found({.interval = 5000, .pause = 60}, 4e6, 0.05); }
TEST(MemoryPauses, FindsPausesAmongJitter) {
    expect_found({.latency = 700, .interval = 178'000, .pause = 1390, .jitter = 80}, 1e7, 0.06);
}
TEST(MemoryPauses, FindsPausesAmongOutliersAndCacheHits) {
    expect_found({.interval = 20'000, .pause = 500, .jitter = 3, .outliers = 0.01, .hits = 0.15}, 4e6, 0.05);
}

TEST(MemoryPauses, ReportsNoneIfNoLoadIsLate) {
    EXPECT_EQ(find_pauses(loads_of({}, 1e6)).verdict, MemoryPauses::Verdict::none);
    EXPECT_EQ(find_pauses(loads_of({.jitter = 30}, 1e6)).verdict, MemoryPauses::Verdict::none);
}

TEST(MemoryPauses, ReportsNoneIfLoadsAreLateIndependently) {
    for (const std::uint64_t seed : {1, 2, 3}) {
        const auto found = find_pauses(loads_of({.jitter = 5, .outliers = 0.02}, 2e6, seed));
        EXPECT_EQ(found.verdict, MemoryPauses::Verdict::none) << found.why;
    }
}

TEST(MemoryPauses, LeavesIrregularPausesOpen) {
    for (const std::uint64_t seed : {1, 2, 3}) {
        const auto found = find_pauses(loads_of({.interval = 20'000, .pause = 500, .irregular = true}, 2e6, seed));
        EXPECT_EQ(found.verdict, MemoryPauses::Verdict::open) << found.why;
        EXPECT_GT(found.stalls.size(), 50U);
    }
}

TEST(MemoryPauses, RefusesASingleChain) {
    EXPECT_THROW((void)find_pauses({}), std::invalid_argument);
    const std::vector<TimedLoad> one{{0, 300, 0}, {320, 620, 0}};
    EXPECT_THROW((void)find_pauses(one), std::invalid_argument);
}

}  // namespace
}  // namespace gputomo::deduce
