#include "experiments/outstanding/plots.hpp"

#include "units/warp.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace gputomo::experiments::outstanding {
namespace {

/// A plot of the paper: threads that share a line, and loads of a thread.
struct PaperPlot {
    const char* name;
    int share;
    int loads;
};
constexpr PaperPlot kPaperPlots[] = {{"unique_x1", 1, 1},    {"unique_x2", 1, 2},   {"unique_x3", 1, 3},
                                     {"merger2_x1", 2, 1},   {"merger4_x2", 4, 2},  {"merger8_x4", 8, 4},
                                     {"merger16_x4", 16, 4}, {"merger32_x4", 32, 4}};

std::string lines_in_words(const InFlightPattern& pattern) {
    if (pattern.shuffled) return "random lines";
    if (pattern.one_line) return "the same lines for all threads";
    if (pattern.share == 1) return "a line for each thread";
    return fmt::format("a line for {} threads", pattern.share);
}

/// "1 load", "4 atomics", "2 loads past the L1"
std::string accesses_in_words(const InFlightShape& shape) {
    const bool far = shape.access == InFlightAccess::load_far;
    return fmt::format("{} {}{}{}", shape.count, far ? "load" : name_of(shape.access), shape.count == 1 ? "" : "s",
                       far ? " past the L1" : "");
}

void plot(Setup& setup, const std::string& name, InFlightShape shape, const InFlightPattern& pattern, int step) {
    results::Trace trace{.name = "outstanding/" + name, .experiment = "outstanding"};
    trace.columns = {
        {"threads", "count", {}}, {"latency", "cycles", {}}, {"variance", "cycles^2", {}}, {"complete", "cycles", {}}};
    trace.plot = {
        fmt::format("Thread-latency plot: {} a thread, {}", accesses_in_words(shape), lines_in_words(pattern)),
        "threads",
        {"latency"}};
    const int most = std::min(kLargestBlock, setup.cached.most_threads(shape));
    std::vector<InFlightPoint> points;
    std::vector<double> listed;
    for (int threads = step; threads <= most; threads += step) {
        const auto point = setup.cached.measure(shape, pattern, threads);
        if (!point) break;
        points.push_back(*point);
        listed.push_back(point->listed);
    }
    const auto variance = neighbour_variance(listed);
    for (std::size_t i = 0; i < points.size(); ++i)
        trace.add_row(points[i].threads, listed[i], variance[i], points[i].complete);
    setup.outcome.traces.push_back(std::move(trace));
}

/// Plots launches of many loads that each differ from the first plot in one thing. The differences show what limits the
/// loads in flight.
void plot_variations_of_many(Setup& setup) {
    // 32 loads of each thread exceed what any SM so far has in flight. The curves bend over hundreds of threads, so two
    // warps between points show their shape.
    constexpr int kMany = 32, kStep = 64;
    plot(setup, "many", {.count = kMany}, {.share = kWarpSize}, kStep);
    plot(setup, "many_far", {.access = InFlightAccess::load_far, .count = kMany}, {.share = kWarpSize}, kStep);
    plot(setup, "many_of_one_place", {.count = kMany}, {.share = kWarpSize, .one_line = true}, kStep);
    plot(setup, "many_half_the_lines", {.count = kMany}, {.share = 2 * kWarpSize}, kStep);
    plot(setup, "many_sectors_of_lines", {.count = kMany, .step = kInFlightLine / 4}, {.share = kWarpSize}, kStep);
    plot(setup, "many_far_apart", {.count = kMany, .step = 4 * kInFlightLine}, {.share = kWarpSize}, kStep);
    const auto shared =
        static_cast<int>(setup.context.device.attribute(device::Attribute::max_shared_memory_per_block).value_or(0));
    plot(setup, "many_with_shared", {.count = kMany}, {.share = kWarpSize, .shared_bytes = shared}, kStep);
    plot(setup, "many_half_as_often", {.count = kMany / 2}, {.share = kWarpSize}, kStep);
}

}  // namespace

void plot_paper(Setup& setup) {
    constexpr int kStep = 2;  // Lashgar 2015, 3.1
    for (const auto& wanted : kPaperPlots) {
        if (setup.warp_loads > 0 && wanted.loads > setup.warp_loads) continue;
        setup.context.progress(0.8, wanted.name);
        plot(setup, wanted.name, {.count = wanted.loads}, {.share = wanted.share}, kStep);
    }
}

void plot_other_accesses(Setup& setup) {
    constexpr int kStep = kWarpSize;  // whole warps; the paper has no such plots to compare with
    plot(setup, "random_x1", {.count = 1}, {.shuffled = true}, kStep);
    plot(setup, "strided_x1", {.count = 1}, {.share = 4, .sectors = 4}, kStep);
    for (const auto access : {InFlightAccess::store, InFlightAccess::atomic, InFlightAccess::load_far})
        plot(setup, fmt::format("unique_{}_x1", name_of(access)), {.access = access}, {}, kStep);
    if (setup.warp_loads == 0 && !setup.context.quick) plot_variations_of_many(setup);
}

}  // namespace gputomo::experiments::outstanding
