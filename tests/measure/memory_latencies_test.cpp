// Queues at the DRAM banks of simulated GPUs reproduce the latency distributions and means of Volkov 2016, 6.4 and
// 6.6.
#include "machine/json.hpp"
#include "measure/chase/latency_samples.hpp"
#include "sim/simulator.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <numeric>
#include <string>

namespace gputomo::measure {
namespace {

using Histogram = std::map<std::int64_t, std::int64_t>;

machine::Machine machine_of(const std::string& name) {
    return machine::load(std::string(GPUTOMO_SOURCE_DIR) + "/machines/" + name + ".json");
}

double share_below(const Histogram& histogram, std::int64_t cycles) {
    double below = 0, all = 0;
    for (const auto& [latency, count] : histogram)
        all += static_cast<double>(count), below += latency < cycles ? static_cast<double>(count) : 0;
    return below / all;
}

struct Sampled {
    Histogram histogram;
    double gigabytes = 0;
};

Sampled sampled(const machine::Machine& machine, int warps) {
    const auto gpu = sim::make_device(machine, {.id = "sim", .seed = 1});
    LinkedArray array(*gpu, warps, LatencySamples::kLines);
    LatencySamples samples(*gpu, array);
    Sampled result;
    result.gigabytes = samples.launch(warps, result.histogram).value() * 128 * machine.clock.sm_mhz.value / 1000;
    return result;
}

TEST(MemoryLatencies, NearlyIdleMemoryAnswersInTheDescribedTime) {
    auto machine = machine_of("gtx680");
    machine.memory.pause_interval = {}, machine.memory.pause_time = {};
    machine.paths.at("global").memory_latency_line_range = {};
    const auto [histogram, gigabytes] = sampled(machine, 1);
    EXPECT_EQ(histogram.begin()->first, 298);
    EXPECT_GT(share_below(histogram, 302), 0.9);
    EXPECT_NEAR(gigabytes, 3.8, 0.2);
}

TEST(MemoryLatencies, DistantLinesAndPausesGiveTheDistributionOfTheThesis) {
    // Table 6.6 at 3.8 GB/s, in cycles: at least 280, 5% below 292, half below 300, 95% below 324, at most 536.
    const auto [histogram, gigabytes] = sampled(machine_of("gtx680"), 1);
    EXPECT_NEAR(gigabytes, 3.8, 0.2);
    EXPECT_NEAR(static_cast<double>(histogram.begin()->first), 280, 14);
    for (const auto& [share, cycles] :
         {std::pair{0.05, 292.0}, {0.25, 296.0}, {0.5, 300.0}, {0.75, 304.0}, {0.95, 324.0}}) {
        EXPECT_LT(share_below(histogram, static_cast<std::int64_t>(0.95 * cycles)), share) << cycles;
        EXPECT_GT(share_below(histogram, static_cast<std::int64_t>(1.05 * cycles)), share) << cycles;
    }
    EXPECT_GT(histogram.rbegin()->first, 420);
    EXPECT_LT(histogram.rbegin()->first, 590);
}

TEST(MemoryLatencies, BusyMemoryHasTheDistributionOfTheThesis) {
    // Table 6.6 at 144 GB/s, in cycles: 5% below 340, half below 488, 95% below 708. Percentiles must agree within
    // 10%.
    const auto [histogram, gigabytes] = sampled(machine_of("gtx680"), 64);
    EXPECT_NEAR(gigabytes, 144, 7);
    for (const auto& [share, cycles] :
         {std::pair{0.05, 340.0}, {0.25, 416.0}, {0.5, 488.0}, {0.75, 572.0}, {0.95, 708.0}}) {
        EXPECT_LT(share_below(histogram, static_cast<std::int64_t>(0.89 * cycles)), share) << cycles;
        EXPECT_GT(share_below(histogram, static_cast<std::int64_t>(1.11 * cycles)), share) << cycles;
    }
}

TEST(MemoryLatencies, WithoutBanksOnlyTheBandwidthDelaysLoads) {
    auto machine = machine_of("gtx680");
    machine.memory.channel_banks = {};
    machine.memory.contention_slopes = {}, machine.memory.contention_limits = {};
    const auto banked = sampled(machine_of("gtx680"), 32), plain = sampled(machine, 32);
    const auto median = [](const Histogram& h) {
        for (const auto& [latency, count] : h)
            if (share_below(h, latency + 1) >= 0.5) return latency;
        return std::int64_t{0};
    };
    EXPECT_GT(median(banked.histogram), median(plain.histogram) + 15);
}

}  // namespace
}  // namespace gputomo::measure
