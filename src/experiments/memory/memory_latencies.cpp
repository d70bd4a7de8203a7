// The distribution of the latencies of single loads, at several loads of the memory.
#include "experiments/experiments.hpp"

#include "experiments/clock/clock_watch.hpp"
#include "experiments/memory/contention_curve.hpp"
#include "measure/chase/latency_samples.hpp"
#include "units/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

namespace gputomo::experiments {
namespace memory_latencies {
namespace {

using Histogram = std::map<std::int64_t, std::int64_t>;  // samples by cycles

/// Shares of the warps that an SM holds; on a GTX 680 they give the loads of Volkov 2016, Table 6.6.
constexpr std::array kParts{0.125, 0.25, 0.375, 0.5, 0.75, 1.0};
constexpr std::array kPercentiles{5, 25, 50, 75, 95};
/// Samples of each load (Volkov 2016, 6.6) with a full budget, if `kSeconds` suffice for them, and the fewest launches
/// whatever time they take.
constexpr std::int64_t kSamples = 10'000'000;
constexpr int kFewestLaunches = 4;
constexpr double kSeconds = 1;
/// With a small budget: samples of each load, and launches of one warp on each SM, of which larger launches take
/// proportionally fewer. No clock ends the loop, so that a simulation finds the same however busy its host is.
constexpr std::int64_t kFewSamples = 4096, kFewLaunches = 64;

std::int64_t count_of(const Histogram& histogram) {
    return std::accumulate(histogram.begin(), histogram.end(), std::int64_t{0},
                           [](std::int64_t sum, const auto& entry) { return sum + entry.second; });
}

double percentile(const Histogram& histogram, int percent) {
    const double wanted = percent / 100.0 * static_cast<double>(count_of(histogram));
    std::int64_t below = 0;
    for (const auto& [cycles, count] : histogram) {
        below += count;
        if (static_cast<double>(below) >= wanted) return static_cast<double>(cycles);
    }
    return static_cast<double>(histogram.rbegin()->first);
}

double mean(const Histogram& histogram) {
    return std::accumulate(
               histogram.begin(), histogram.end(), 0.0,
               [](double sum, const auto& entry) { return sum + static_cast<double>(entry.first * entry.second); }) /
           static_cast<double>(count_of(histogram));
}

struct Level {
    int warps = 0;
    double loads_per_cycle = 0;  ///< of warps, on all SMs
    Histogram histogram;
};

/// Launches until there are enough samples or the time is over. Returns nullopt if the occupancy is not attained.
std::optional<Level> sample(LatencySamples& samples, int warps, Budget budget) {
    const auto begin = std::chrono::steady_clock::now();
    Level level{.warps = warps, .loads_per_cycle = 0, .histogram = {}};
    int launches = 0;
    const auto go_on = [&] {
        if (budget == Budget::small) return count_of(level.histogram) < kFewSamples || launches * warps < kFewLaunches;
        const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin;
        return launches < kFewestLaunches || (spent.count() < kSeconds && count_of(level.histogram) < kSamples);
    };
    for (; go_on(); ++launches) {
        const auto load = samples.launch(warps, level.histogram);
        if (!load) return std::nullopt;
        level.loads_per_cycle += *load;
    }
    level.loads_per_cycle /= launches;
    return level;
}

results::Trace percentiles_of(const std::vector<Level>& levels, double gigabytes) {
    results::Trace trace{.name = "memory_latencies/percentiles", .experiment = "memory_latencies"};
    const auto column = [&](std::string name, std::string unit, auto value) {
        std::vector<double> values;
        for (const auto& level : levels) values.push_back(value(level));
        trace.columns.push_back({std::move(name), std::move(unit), std::move(values)});
    };
    column("throughput", "GB/s", [&](const Level& level) { return level.loads_per_cycle * gigabytes; });
    column("warps", "warp/SM", [](const Level& level) { return level.warps; });
    column("mean", "cycles", [](const Level& level) { return mean(level.histogram); });
    column("min", "cycles", [](const Level& level) { return static_cast<double>(level.histogram.begin()->first); });
    for (const int percent : kPercentiles)
        column(fmt::format("p{}", percent), "cycles",
               [&](const Level& level) { return percentile(level.histogram, percent); });
    column("max", "cycles", [](const Level& level) { return static_cast<double>(level.histogram.rbegin()->first); });
    column("samples", "count", [](const Level& level) { return static_cast<double>(count_of(level.histogram)); });
    trace.plot = {"Latency of single loads over throughput",
                  "throughput",
                  {"p5", "p25", "p50", "p75", "p95", "mean"},
                  false,
                  false};
    return trace;
}

/// The density of the samples, in bins wide enough for a smooth curve.
results::Trace density_of(const Level& level, double gigabytes) {
    // With more bins, each holds too few samples for a smooth curve; fewer bins merge neighbouring peaks.
    constexpr double kBins = 100;
    const double low = static_cast<double>(level.histogram.begin()->first), high = percentile(level.histogram, 99);
    const double width = std::max(1.0, std::ceil((high - low) / kBins));
    std::map<std::int64_t, double> bins;
    for (const auto& [cycles, count] : level.histogram)
        if (static_cast<double>(cycles) <= high)
            bins[static_cast<std::int64_t>((static_cast<double>(cycles) - low) / width)] += static_cast<double>(count);
    std::vector<double> cycles, share;
    const double samples = static_cast<double>(count_of(level.histogram));
    for (const auto& [bin, count] : bins)
        cycles.push_back(low + (static_cast<double>(bin) + 0.5) * width), share.push_back(count / samples / width);
    results::Trace trace{.name = fmt::format("memory_latencies/density_{}", level.warps),
                         .experiment = "memory_latencies"};
    trace.columns = {{"latency", "cycles", cycles}, {"density", "1/cycle", share}};
    trace.plot = {fmt::format("Latencies of single loads at {:.0f} GB/s", level.loads_per_cycle * gigabytes),
                  "latency",
                  {"density"},
                  false,
                  false};
    return trace;
}

Outcome measure(Context& context) {
    LinkedArray array(context.device, max_warps_of(context.device), LatencySamples::kLines);
    LatencySamples samples(context.device, array);
    Outcome outcome;
    add_code_checks(samples.compiled(), outcome);
    std::vector<int> warps{1};
    for (const double part : kParts)
        if (const int wanted = static_cast<int>(part * max_warps_of(context.device)); wanted > warps.back())
            warps.push_back(wanted);
    const double gigabytes =
        static_cast<double>(LinkedArray::kLineBytes) * sm_mhz_of(context.findings, context.device) / 1000;
    std::vector<Level> levels;
    for (std::size_t i = 0; i < warps.size(); ++i) {
        context.progress(static_cast<double>(i) / static_cast<double>(warps.size()),
                         fmt::format("{} warps on each SM", warps[i]));
        if (auto level = sample(samples, warps[i], context.budget)) levels.push_back(std::move(*level));
    }
    if (levels.empty()) throw DeviceError("memory_latencies: no occupancy was attained");
    outcome.traces.push_back(percentiles_of(levels, gigabytes));
    std::vector<deduce::LoadedLatency> means;
    for (const auto& level : levels) means.push_back({level.loads_per_cycle * gigabytes, mean(level.histogram)});
    outcome.traces.push_back(contention_trace(means, "memory_latencies"));
    add_contention_estimates(means, "memory_latencies", context, outcome);
    for (const auto& level : levels) outcome.traces.push_back(density_of(level, gigabytes));
    return outcome;
}

Outcome run(Context& context) {
    return watched(context, [](Context& c) { return or_left_out([&] { return measure(c); }); });
}

}  // namespace
}  // namespace memory_latencies

Experiment memory_latencies_experiment() {
    return {.id = "memory_latencies",
            .title = "distribution of the latencies of single loads at several loads of the memory",
            .source = "Volkov 2016, 6.6",
            .method = "memory-and-bandwidth",
            .explanation =
                "All warps stream, each load waiting for the one before. One warp of each SM times one of its "
                "loads in eight, at several loads of the memory, which gives the distribution of single latencies. "
                "The mean latency against throughput is fitted with a + b x / (c - x).",
            .needs = {},
            .after = {"clock"},
            .provides = {"memory.contention_base", "memory.contention_slopes", "memory.contention_limits"},
            .run = memory_latencies::run,
            .part_of_scan = PartOfScan::on_request};
}

}  // namespace gputomo::experiments
