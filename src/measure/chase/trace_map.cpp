#include "measure/chase/trace_map.hpp"

#include "deduce/cache/chase.hpp"

#include <fmt/format.h>

#include <utility>

namespace gputomo::measure {
namespace {

/// Lines that the array has more than the cache: a few sets overflow, the others don't.
constexpr std::uint64_t kMore = 4;
constexpr std::uint64_t kWarmLaps = 4, kLaps = 8;
/// A map of more lines shows no single one.
constexpr std::uint64_t kMostLines = 4096;

}  // namespace

void add_trace_map(const TourWalk& walk, const TraceMapQuestion& question, std::vector<results::Trace>& traces) {
    if (question.line == 0 || question.capacity == 0) return;
    const auto lines = question.capacity / question.line + kMore;
    if (lines > kMostLines || lines * question.line > question.room) return;
    const auto latencies =
        walk(deduce::strided(lines * question.line, question.line), kWarmLaps * lines, kLaps * lines);
    if (latencies.size() < kLaps * lines) return;
    results::Trace trace{.name = fmt::format("{}/{}_trace", question.experiment, question.cache),
                         .experiment = question.experiment};
    trace.columns = {{"line", "number", {}}, {"lap", "number", {}}, {"latency", "cycles", {}}};
    trace.plot = {.title = fmt::format("Hits and misses, load by load, of an array {} lines larger than {}", kMore,
                                       question.cache),
                  .x = "line",
                  .y = {"lap"},
                  .shade = "latency"};
    for (std::uint64_t i = 0; i < kLaps * lines; ++i) {
        const double row[] = {static_cast<double>(i % lines), static_cast<double>(i / lines + 1), latencies[i]};
        for (std::size_t column = 0; column < std::size(row); ++column)
            trace.columns[column].values.push_back(row[column]);
    }
    traces.push_back(std::move(trace));
}

}  // namespace gputomo::measure
