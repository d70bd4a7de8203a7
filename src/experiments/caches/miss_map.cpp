#include "experiments/caches/miss_map.hpp"

#include "deduce/cache/chase/chase.hpp"

#include <fmt/format.h>

#include <utility>

namespace gputomo::experiments {
namespace {

/// Lines by which the array exceeds the cache: a few sets overflow, the others do not.
constexpr std::uint64_t kMore = 4;
/// Passes before and during the recording. A policy shows as a pattern that repeats over a few of them.
constexpr std::uint64_t kMapWarmPasses = 4, kMapPasses = 8;
/// In a map of more lines a single line is too narrow to see.
constexpr std::uint64_t kMostLines = 4096;

}  // namespace

void add_miss_map(const SequenceLatencies& latencies_of, const MissMapRequest& request,
                  std::vector<results::Trace>& traces) {
    if (request.line == 0 || request.capacity == 0) return;
    const auto lines = request.capacity / request.line + kMore;
    if (lines > kMostLines || lines * request.line > request.buffer_bytes) return;
    const auto latencies =
        latencies_of(deduce::strided(lines * request.line, request.line), kMapWarmPasses * lines, kMapPasses * lines);
    if (latencies.size() < kMapPasses * lines) return;
    results::Trace trace{.name = fmt::format("{}/{}_trace", request.experiment, request.cache),
                         .experiment = request.experiment};
    trace.columns = {{"line", "number", {}}, {"pass", "number", {}}, {"latency", "cycles", {}}};
    trace.plot = {.title = fmt::format("Hits and misses, load by load, of an array {} lines larger than {}", kMore,
                                       request.cache),
                  .x = "line",
                  .y = {"pass"},
                  .shade = "latency"};
    for (std::uint64_t i = 0; i < kMapPasses * lines; ++i) trace.add_row(i % lines, i / lines + 1, latencies[i]);
    traces.push_back(std::move(trace));
}

}  // namespace gputomo::experiments
