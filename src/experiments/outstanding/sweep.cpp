#include "experiments/outstanding/sweep.hpp"

#include "units/warp.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace gputomo::experiments::outstanding {
namespace {

using deduce::OutstandingLaunch;
using deduce::OutstandingPoint;
using deduce::OutstandingUnit;

/// Requests of the largest launch of the sweep. Larger launches take longer and only show how fast the memory is.
constexpr int kMostRequests = 1280;
/// Requests of the largest launch from memory. What memory keeps in flight shows in smaller launches already.
constexpr int kMostFromMemory = 2048;

bool add_point(Setup& setup, int loads, const InFlightPattern& pattern, int threads) {
    const OutstandingLaunch launch{threads, loads, pattern.share, pattern.sectors, pattern.lanes};
    if (deduce::units_of(launch, OutstandingUnit::lines) > kMostRequests) return false;
    const auto point = setup.cached.measure({.count = loads}, pattern, threads);
    if (point) setup.points.push_back({launch, point->complete});
    return point.has_value();
}

/// One curve of the surface: launches of 1 to `most_warps` warps, and of parts of a warp where these differ.
void sweep_curve(Setup& setup, int loads, const InFlightPattern& pattern, int most_warps) {
    if (loads > setup.most_loads || (setup.warp_loads > 0 && loads > setup.warp_loads)) return;
    if (pattern.share < kWarpSize && pattern.lanes == kWarpSize)
        for (const int threads : {2, 4, 8, 16, 24}) add_point(setup, loads, pattern, threads);
    for (int warps = 1; warps <= most_warps; ++warps)
        if (!add_point(setup, loads, pattern, warps * kWarpSize)) return;
}

}  // namespace

void sweep(Setup& setup) {
    constexpr int kWarps = kLargestBlock / kWarpSize;
    int done = 0;
    for (const int loads : {1, 2, 3, 4, 5, 6, 8, 12, 16, 24, 32}) {
        setup.context.progress(0.1 + 0.04 * done++, fmt::format("{} loads a thread", loads));
        sweep_curve(setup, loads, {.share = kWarpSize}, kWarps);
        if (loads > 8) continue;
        sweep_curve(setup, loads, {.share = 8}, kWarps);
        if (loads > 4) continue;
        sweep_curve(setup, loads, {.share = 1, .lanes = 8}, kWarps);
        for (const int share : {1, 2, 4}) sweep_curve(setup, loads, {.share = share}, loads > 2 ? kWarps / 2 : kWarps);
        sweep_curve(setup, loads, {.share = 4, .sectors = 4}, kWarps);
    }
}

Launches launches_from_memory(Setup& setup) {
    std::vector<OutstandingPoint> points;
    double lone = std::numeric_limits<double>::infinity();
    for (const int share : {kWarpSize, 1})
        for (const int loads : {1, 8, 16, 32, 48})
            for (int warps = 1; warps <= kLargestBlock / kWarpSize; warps += warps < 4 ? 1 : 4) {
                const OutstandingLaunch launch{.threads = warps * kWarpSize, .loads = loads, .threads_per_line = share};
                if (loads > setup.most_loads || deduce::units_of(launch, OutstandingUnit::lines) > kMostFromMemory)
                    break;
                const auto point = setup.memory().measure({.count = loads}, {.share = share}, launch.threads);
                if (!point) break;
                if (launch.loads == 1) lone = std::min(lone, point->complete);
                points.push_back({launch, point->complete});
            }
    return launches_of(std::move(points), lone, setup.overhead);
}

results::Trace surface_trace(std::span<const OutstandingPoint> points, const deduce::OutstandingModel& model) {
    results::Trace trace{.name = "outstanding/surface", .experiment = "outstanding"};
    trace.columns = {{"loads", "count", {}},     {"share", "threads", {}}, {"sectors", "count", {}},
                     {"lanes", "threads", {}},   {"threads", "count", {}}, {"complete", "cycles", {}},
                     {"described", "cycles", {}}};
    trace.plot = {.title = "Launches as the best model predicts them, against what was measured",
                  .x = "complete",
                  .y = {"described"},
                  .split = "loads"};
    for (const auto& [launch, cycles] : points)
        trace.add_row(launch.loads, launch.threads_per_line, launch.sectors_per_line, launch.active_lanes,
                      launch.threads, cycles, model.predict(launch));
    return trace;
}

results::Trace thread_latency_trace(std::span<const OutstandingPoint> points) {
    results::Trace trace{.name = "outstanding/thread_latency", .experiment = "outstanding"};
    trace.columns = {{"threads", "count", {}}, {"loads", "count", {}}, {"latency", "cycles", {}}};
    trace.plot = {
        .title = "Thread-latency surface: cycles until all loads have their data, each from a line of its own",
        .x = "threads",
        .y = {"latency"},
        .split = "loads"};
    for (const auto& [launch, cycles] : points)
        if (launch.threads_per_line == 1 && launch.sectors_per_line == 1 && launch.active_lanes == kWarpSize)
            trace.add_row(launch.threads, launch.loads, cycles);
    return trace;
}

}  // namespace gputomo::experiments::outstanding
