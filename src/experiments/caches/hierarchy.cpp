#include "experiments/caches/hierarchy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <utility>

namespace gputomo::experiments {
namespace {

/// Bytes of the largest array for loads through the first level. No first level so far is larger.
constexpr std::uint64_t kLargestNear = std::uint64_t{2} << 20;
/// Most loads of one pass of them: larger arrays are loaded in longer steps.
constexpr std::uint64_t kMostNearLoads = 1 << 16;
/// If the nearest latencies of both sweeps differ by more than this share, they do not start at the same cache. They
/// also start at different caches if one misses in arrays that the other's first cache serves.
constexpr double kNearer = 0.1;

results::Trace trace_of(std::string name, const deduce::LevelSweep& sweep) {
    results::Trace trace{.name = std::move(name), .experiment = "caches"};
    trace.columns = {{"size", "bytes", {}}, {"stride", "bytes", {}}, {"median", "cycles", {}},
                     {"low", "cycles", {}}, {"high", "cycles", {}},  {"mean", "cycles", {}}};
    for (const auto& point : sweep.points) {
        const double row[] = {static_cast<double>(point.bytes),
                              static_cast<double>(point.stride),
                              point.median,
                              point.low,
                              point.high,
                              point.mean};
        for (std::size_t i = 0; i < std::size(row); ++i) trace.columns[i].values.push_back(row[i]);
    }
    trace.plot = {
        "Latency of a dependent load against the size of the array", "size", {"median", "low", "high"}, true, false};
    return trace;
}

/// Adds the levels that one chase sees before its last one.
void append_caches(std::vector<FoundCache>& caches, const deduce::LevelSweep& sweep, ChaseArray& array,
                   int first_number) {
    for (std::size_t i = 0; i + 1 < sweep.levels.size(); ++i)
        caches.push_back({fmt::format("l{}", first_number + static_cast<int>(i)), sweep.levels[i],
                          sweep.levels[i + 1].latency, &array, kFarStride,
                          i > 0 ? sweep.levels[i - 1].overflows : kSmallestFar});
}

/// Passes chases on and counts the latencies of each array size, so that the report can show their distribution.
class Distribution {
public:
    Distribution(std::string name, deduce::Chase chase) : name_(std::move(name)), chase_(std::move(chase)) {}
    deduce::ChaseTrace operator()(const deduce::ChaseRequest& request) {
        auto trace = chase_(request);
        const std::uint64_t stride = request.offsets.size() > 1 ? request.offsets[1] - request.offsets[0] : 0;
        auto& counts = counts_[request.offsets.size() * stride];
        for (const double latency : trace.latencies) ++counts[std::llround(latency)];
        return trace;
    }
    [[nodiscard]] results::Trace trace() const {
        results::Trace trace{.name = name_, .experiment = "caches"};
        trace.columns = {{"size", "bytes", {}}, {"latency", "cycles", {}}, {"loads", "count", {}}};
        trace.plot = {.title = "Distribution of the latencies of single loads, by size of the array",
                      .x = "size",
                      .y = {"latency"},
                      .log_x = true,
                      .shade = "loads"};
        for (const auto& [size, counts] : counts_)
            for (const auto& [latency, loads] : counts) trace.add_row(size, latency, loads);
        return trace;
    }

private:
    std::string name_;
    deduce::Chase chase_;
    std::map<std::uint64_t, std::map<std::int64_t, std::int64_t>> counts_;
};

}  // namespace

/// Loads that may hit in the first level show it. Loads past it show the other levels, which it then does not filter.
Hierarchy find_hierarchy(ChaseArray& near, ChaseArray& far, deduce::LevelQuestion beyond_first, Outcome& outcome) {
    near.describe(0.05, "first-level caches");
    Distribution near_counts("caches/near_latencies", near.chase()), far_counts("caches/far_latencies", far.chase());
    const auto near_sweep =
        deduce::deduce_levels(std::ref(near_counts), {.largest = std::min(beyond_first.largest, kLargestNear),
                                                      .stride = kNearStride,
                                                      .least_step = beyond_first.least_step,
                                                      .max_pass_loads = kMostNearLoads});
    far.describe(0.2, "caches beyond the first level");
    const auto far_sweep = deduce::deduce_levels(std::ref(far_counts), beyond_first);
    outcome.traces.push_back(trace_of("caches/near", near_sweep));
    outcome.traces.push_back(trace_of("caches/far", far_sweep));
    outcome.traces.push_back(near_counts.trace());
    outcome.traces.push_back(far_counts.trace());
    Hierarchy hierarchy;
    const auto& nearest = near_sweep.levels.front();
    const auto& beyond = far_sweep.levels.front();
    const bool smaller = nearest.overflows > 0 && nearest.overflows <= beyond.fits && nearest.latency < beyond.latency;
    if (smaller || nearest.latency < (1 - kNearer) * beyond.latency)
        hierarchy.caches.push_back({"l1", nearest, beyond.latency, &near, kNearStride});
    append_caches(hierarchy.caches, far_sweep, far, 2);
    hierarchy.memory = far_sweep.levels.back();
    return hierarchy;
}

}  // namespace gputomo::experiments
