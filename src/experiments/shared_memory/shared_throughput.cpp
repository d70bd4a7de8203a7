// Bytes that one SM's shared memory delivers per cycle when no load conflicts with another.
#include "experiments/experiments.hpp"

#include "experiments/clock/clock_watch.hpp"
#include "measure/throughput/shared_chase.hpp"
#include "results/estimates.hpp"
#include "units/warp.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace gputomo::experiments {
namespace shared_throughput {
namespace {

/// Confidence of the estimate, a judgement and no measured frequency. No deduction reads it; reports show it.
constexpr double kConfidence = 0.97;
constexpr int kWordBytes = 4;
/// Launches of each point, whose median counts.
constexpr int kLaunches = 3;
/// The rate of a memory of banks is a whole number of words per cycle; a rate this near to one is that number.
constexpr double kRounding = 0.015;
/// Words of a load: 4, 8 and 16 bytes.
constexpr std::array kWidths = {1, 2, 4};
/// Loads of a thread in flight. With one, a block may have too few threads to hide the latency.
constexpr std::array kChains = {1, 4};
/// Loads of each chain; all chains together make a few hundred instructions.
constexpr int kLength = 32;

/// Bytes per cycle. Every thread loads its own words again and again, and neighbouring threads load neighbouring words.
/// Warps whose words do not fit load those of the first ones.
double rate_of(SharedChase& chase, int threads) {
    const auto shape = chase.shape();
    const auto step = static_cast<std::uint32_t>(kWordBytes * shape.width);
    const auto size = static_cast<std::uint32_t>(shape.memory.count());
    std::vector<SharedLink> links;
    std::vector<std::uint32_t> starts;
    for (std::uint32_t i = 0; i < static_cast<std::uint32_t>(threads); ++i) {
        const std::uint32_t at = i * step % size;
        starts.push_back(at);
        if (i * step < size) links.push_back({at, at});
    }
    std::vector<double> samples;
    for (int i = 0; i < kLaunches; ++i) samples.push_back(chase.cycles_of_n(links, starts));
    return static_cast<double>(threads) * step * shape.length * shape.chains / summarise(samples).value;
}

std::vector<int> thread_counts(const device::Device& device, int most) {
    const auto warp = static_cast<int>(device.attribute(device::Attribute::warp_size).value_or(kWarpSize));
    std::vector<int> counts;
    for (int threads = warp; threads < most; threads *= 2) counts.push_back(threads);
    counts.push_back(most / warp * warp);
    return counts;
}

Outcome measure(Context& context) {
    Outcome outcome;
    results::Trace trace{.name = "shared_throughput/warps", .experiment = "shared_throughput"};
    trace.columns = {
        {"width", "bytes", {}}, {"chains", "count", {}}, {"threads", "count", {}}, {"rate", "bytes/cycle", {}}};
    trace.plot = {.title = "Bytes per cycle from shared memory against the threads that read, by the bytes of a load",
                  .x = "threads",
                  .y = {"rate"},
                  .split = "width"};
    double best = 0;
    for (const int width : kWidths) {
        for (const int chains : kChains) {
            SharedChase chase(context.device, {.width = width, .chains = chains, .length = kLength});
            add_code_checks(chase.compiled(), outcome);
            for (const int threads :
                 thread_counts(context.device, chase.compiled().properties().max_threads_per_block)) {
                context.progress(static_cast<double>(trace.columns[0].values.size()) / 36.0,
                                 fmt::format("{} threads, {} loads of {} bytes in flight each", threads, chains,
                                             width * kWordBytes));
                const double rate = rate_of(chase, threads);
                best = std::max(best, rate);
                trace.add_row(width * kWordBytes, chains, threads, rate);
            }
        }
    }
    if (best > 0) {
        const double words = std::round(best / kWordBytes) * kWordBytes;
        const double value = words > 0 && std::abs(best - words) <= kRounding * words ? words : best;
        outcome.estimates.push_back(decided_real(
            "shared.bytes_per_cycle", {value, std::min(value, best), std::max(value, best)},
            {"shared_throughput: best rate of conflict-free loads of 4, 8 and 16 bytes, n against 2n", kConfidence}));
    }
    outcome.traces.push_back(std::move(trace));
    return outcome;
}

Outcome run(Context& context) { return watched(context, measure); }

}  // namespace
}  // namespace shared_throughput

Experiment shared_throughput_experiment() {
    return {.id = "shared_throughput",
            .title = "bytes per cycle from one SM's shared memory",
            .source = "Volkov 2016, 6.3",
            .method = "shared-memory",
            .explanation =
                "Warps read from shared memory without bank conflicts. Bytes per cycle are counted for several "
                "widths of a load and several numbers of warps.",
            .needs = {},
            .provides = {"shared.bytes_per_cycle"},
            .run = shared_throughput::run};
}

}  // namespace gputomo::experiments
