#include "experiments/caches/cached_path.hpp"

#include "deduce/cache/findings/cache_estimates.hpp"
#include "measure/chase/chase_array.hpp"
#include "results/estimates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace gputomo::experiments {
namespace {

/// Single loads to a level beyond the first are placed at multiples of this many bytes, or of the first line size if
/// that is smaller. A finer placement finds nothing new: no cache so far has shorter lines.
constexpr std::uint64_t kFinestBeyondFirst = 64;
/// Most loads of one pass in the search for a geometry. The small caches of these paths have fewer lines.
constexpr std::uint64_t kMostGeometryLoads = 1 << 15;

results::Trace trace_of(const PathQuestion& question, const deduce::LevelSweep& sweep) {
    results::Trace trace{.name = question.experiment + "/levels", .experiment = question.experiment};
    trace.columns = {{"size", "bytes", {}},
                     {"median", "cycles", {}},
                     {"low", "cycles", {}},
                     {"high", "cycles", {}},
                     {"mean", "cycles", {}}};
    for (const auto& point : sweep.points) trace.add_row(point.bytes, point.median, point.low, point.high, point.mean);
    trace.plot = {
        fmt::format("Latency of a dependent load of the path \"{}\" against the size of the array", question.path),
        "size",
        {"mean", "low", "high"},
        true,
        false};
    return trace;
}

}  // namespace

std::uint64_t PathLevel::least_capacity() const {
    return findings.capacity.value > 0 ? static_cast<std::uint64_t>(findings.capacity.value) : level.fits;
}

std::uint64_t PathLevel::most_capacity() const {
    return std::max(least_capacity(),
                    static_cast<std::uint64_t>(std::max<std::int64_t>(0, findings.capacity.bracket[1])));
}

std::array<double, 2> PathFindings::borders_of(std::size_t index) const {
    const auto latency = [&](std::size_t level) {
        return level < caches.size() ? caches[level].level.latency : memory.latency;
    };
    const double low =
        index == 0 ? -std::numeric_limits<double>::infinity() : (latency(index - 1) + latency(index)) / 2;
    const double high =
        index == caches.size() ? std::numeric_limits<double>::infinity() : (latency(index) + latency(index + 1)) / 2;
    return {low, high};
}

std::vector<std::uint64_t> PathFindings::sequence_of(std::size_t index, const PathQuestion& question) const {
    std::uint64_t stride = question.stride;
    for (std::size_t i = 0; i < std::min(index + 1, caches.size()); ++i)
        if (caches[i].findings.line.confidence > 0)
            stride = std::max(stride, static_cast<std::uint64_t>(caches[i].findings.line.value));
    // Twice the previous cache, so that each of its sets overflows.
    std::uint64_t bytes = index == 0
                              ? 0
                              : std::max(caches[index - 1].level.overflows,
                                         2 * static_cast<std::uint64_t>(caches[index - 1].findings.capacity.value));
    // A quarter of what fits: without LRU replacement an array of the full size need not be resident.
    bytes = index < caches.size() ? std::min(std::max(bytes, caches[index].level.fits / 4), caches[index].level.fits)
                                  : std::min(bytes, question.buffer_bytes);
    return deduce::strided(std::max(bytes, stride), stride, question.most_loads);
}

PathFindings measure_caches(Context& context, const deduce::Chase& chase, const PathQuestion& question,
                            Outcome& outcome) {
    const auto sweep = deduce::deduce_levels(chase, {.smallest = question.smallest,
                                                     .largest = question.largest,
                                                     .stride = question.stride,
                                                     .least_step = question.least_step,
                                                     .half_octaves = true,
                                                     .max_pass_loads = question.most_loads});
    outcome.traces.push_back(trace_of(question, sweep));
    PathFindings found;
    found.memory = sweep.levels.back();
    std::vector<UpperCache> near;
    for (std::size_t i = 0; i + 1 < sweep.levels.size(); ++i) {
        PathLevel cache{fmt::format("{}_l{}", question.path, i + 1), sweep.levels[i], sweep.levels[i + 1].latency, {}};
        const bool upper_known = near.size() == i;
        if (upper_known) {
            const std::uint64_t probe_stride = i == 0 ? question.word : near.back().line;
            deduce::CacheQuestion asked{
                .threshold = (cache.level.latency + cache.next_latency) / 2,
                .fits = cache.level.fits,
                .overflows = cache.level.overflows,
                .buffer_bytes = question.buffer_bytes,
                .word = i == 0 ? question.word : std::min(near.front().line, kFinestBeyondFirst),
                .probe_stride = probe_stride,
                .filtered = i > 0,
                .code_bytes = i == 0 ? question.occupied : 0,
                .max_pass_loads = kMostGeometryLoads,
                .seed = context.seed};
            UnfilteredLineChase unfiltered(question.chase_beyond_first ? question.chase_beyond_first : chase, near,
                                           question.buffer_bytes, std::min<std::uint64_t>(question.word, 8));
            cache.findings = deduce::deduce_geometry(
                i == 0 ? chase
                       : deduce::Chase([&](const deduce::ChaseRequest& request) { return unfiltered(request); }),
                asked);
        } else {
            cache.findings.capacity = {
                static_cast<std::int64_t>(cache.level.fits),
                0.5,
                {static_cast<std::int64_t>(cache.level.fits), static_cast<std::int64_t>(cache.level.overflows)},
                {}};
            cache.findings.remarks.emplace_back(
                "its geometry was not measured, because a nearer cache, whose sets are unknown, filters the loads to "
                "it");
        }
        if (upper_known)
            if (const auto known = upper_cache(cache.findings, chase, (cache.level.latency + cache.next_latency) / 2,
                                               question.buffer_bytes))
                near.push_back(*known);
        found.caches.push_back(std::move(cache));
    }
    return found;
}

void report_caches(const PathFindings& findings, const PathQuestion& question, Outcome& outcome) {
    for (const auto& cache : findings.caches) {
        if (cache.elsewhere) continue;
        for (auto& estimate : deduce::cache_estimates(cache.findings, "caches." + cache.name, question.experiment))
            outcome.estimates.push_back(std::move(estimate));
        for (const auto& remark : cache.findings.remarks)
            outcome.warnings.push_back(fmt::format("{}: {}: {}", question.experiment, cache.name, remark));
    }
}

void measure_path(Context& context, ChaseArray& array, PathQuestion question, Outcome& outcome) {
    question.least_step = least_level_step(context.findings);
    question.latencies_of = [&](const auto& offsets, std::uint64_t warm, std::uint64_t loads,
                                std::optional<std::uint32_t> sm) { return array.latencies(offsets, warm, loads, sm); };
    const auto findings = measure_caches(context, array.chase(), question, outcome);
    report_caches(findings, question, outcome);
    array.describe(0.8, "latency by SM");
    measure_latencies(context, findings, question, outcome);
}

}  // namespace gputomo::experiments
