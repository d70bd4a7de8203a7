// Latencies of the levels of a path, by SM.
#include "experiments/caches/cached_path.hpp"

#include "experiments/caches/miss_map.hpp"
#include "measure/chase/settled_latency.hpp"
#include "measure/kernel/device_facts.hpp"
#include "results/estimates.hpp"
#include "units/statistics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace gputomo::experiments {
namespace {

/// Confidence of a latency, a judgement and no measured frequency. No deduction reads it; reports show it.
constexpr double kPathConfidence = 0.97;
/// Passes after which an array that fits is resident under any replacement policy.
constexpr std::uint64_t kPathWarmPasses = 4;
/// One load per line of the array is then timed, but no more than `kMostLoads` and no fewer than `kFewestLoads` loads.
constexpr std::uint64_t kMostLoads = 1024, kFewestLoads = 256;
/// A load that takes less than this share of global memory's latency hits in a cache.
constexpr double kOfMemory = 0.7;
/// Medians of a hundred equal SMs spread over this many standard deviations of one median. A wider range is a
/// difference between the SMs.
constexpr double kSpreadOfMany = 6;
/// The latency of one level as each SM sees it.
struct BySm {
    std::vector<double> sms, latencies;
    double uncertainty = 0;  ///< largest standard deviation of an SM's latency, in cycles
    [[nodiscard]] bool empty() const { return latencies.empty(); }
    [[nodiscard]] double mean() const {
        return std::accumulate(latencies.begin(), latencies.end(), 0.0) / static_cast<double>(latencies.size());
    }
    [[nodiscard]] std::vector<std::int64_t> range() const {
        const auto [low, high] = std::ranges::minmax(latencies);
        return {std::llround(low), std::llround(high)};
    }
};

BySm latencies_by_sm(Context& context, const PathFindings& findings, std::size_t index, const PathQuestion& question) {
    const auto sequence = findings.sequence_of(index, question);
    const auto borders = findings.borders_of(index);
    const auto sms = sms_of(context.device);
    BySm by_sm;
    for (std::uint32_t sm = 0; sm < sms; ++sm) {
        const auto chase = [&] {
            auto latencies = question.latencies_of(
                sequence, kPathWarmPasses * sequence.size(),
                std::max<std::uint64_t>(kFewestLoads, std::min<std::uint64_t>(sequence.size(), kMostLoads)), sm);
            std::erase_if(latencies, [&](double latency) { return latency < borders[0] || latency > borders[1]; });
            return latencies;
        };
        const auto of_sm = settled_latency(chase, clock_step(context.findings));
        if (!of_sm) continue;
        by_sm.sms.push_back(sm);
        by_sm.latencies.push_back(of_sm->latency);
        by_sm.uncertainty = std::max(by_sm.uncertainty, of_sm->uncertainty);
    }
    return by_sm;
}

/// Whether the level beyond all caches that were filled can be memory: no path to memory is much faster than the one of
/// global loads.
bool is_memory(const Context& context, double latency) {
    const auto global = context.findings.number("paths.global.memory_latency");
    return !global || latency > kOfMemory * *global;
}

/// Adds a cache that is larger than the largest array.
void add_unfilled(const std::string& name, const PathQuestion& question, Outcome& outcome) {
    auto capacity = undecided(
        fmt::format("caches.{}.capacity", name), {},
        {fmt::format("{}: the cache is larger than the largest array, {} bytes", question.experiment, question.largest),
         kPathConfidence});
    outcome.estimates.push_back(std::move(capacity));
    outcome.estimates.push_back(
        undecided(fmt::format("paths.{}.memory_latency", question.path), {},
                  {question.experiment + ": no array was larger than all caches", kPathConfidence}));
}

/// The estimate of a latency of which only a part can be measured.
results::Estimate at_least(const std::string& path, double measured, Evidence evidence) {
    evidence.note =
        fmt::format("at least {:.0f} cycles; the part that overlaps with a nearer level is not known", measured);
    return undecided(path, {}, evidence);
}

/// Adds a map of hits and misses of the nearest cache. It filters the loads to the others, which get no map.
void add_nearest_trace(const PathFindings& findings, const PathQuestion& question, Outcome& outcome) {
    if (findings.caches.empty()) return;
    const auto& nearest = findings.caches.front();
    const auto known = [](const deduce::Finding& finding) {
        return finding.confidence > 0.5 ? static_cast<std::uint64_t>(finding.value) : 0;
    };
    const auto chase = [&](const std::vector<std::uint64_t>& offsets, std::uint64_t warm, std::uint64_t loads) {
        return question.latencies_of(offsets, warm, loads, std::nullopt);
    };
    add_miss_map(chase,
                 {question.experiment, nearest.name, known(nearest.findings.capacity), known(nearest.findings.line),
                  question.buffer_bytes},
                 outcome.traces);
}

}  // namespace

std::optional<double> measured_latency(Context& context, const PathFindings& findings, std::size_t index,
                                       const PathQuestion& question) {
    const auto by_sm = latencies_by_sm(context, findings, index, question);
    return by_sm.empty() ? std::nullopt : std::optional(by_sm.mean());
}

void measure_latencies(Context& context, const PathFindings& findings, const PathQuestion& question, Outcome& outcome) {
    results::Trace trace{.name = question.experiment + "/by_sm", .experiment = question.experiment};
    trace.columns = {{"level", "number", {}}, {"sm", "id", {}}, {"latency", "cycles", {}}};
    trace.plot = {.title = fmt::format("Latency of each level of the path \"{}\" by SM", question.path),
                  .x = "sm",
                  .y = {"latency"},
                  .split = "level"};
    std::vector<std::string> names;
    for (std::size_t i = 0; i <= findings.caches.size(); ++i) {
        bool memory = i == findings.caches.size();
        auto by_sm = latencies_by_sm(context, findings, i, question);
        if (!memory) names.push_back(findings.caches[i].name);
        if (by_sm.empty()) continue;
        if (i > 0)
            for (double& latency : by_sm.latencies) latency += findings.overlapped;
        for (std::size_t s = 0; s < by_sm.sms.size(); ++s) trace.add_row(i + 1, by_sm.sms[s], by_sm.latencies[s]);
        if (memory && !is_memory(context, by_sm.mean())) {
            memory = false;
            names.push_back(fmt::format("{}_l{}", question.path, i + 1));
            add_unfilled(names.back(), question, outcome);
        }
        if (!memory && i < findings.caches.size() && findings.caches[i].elsewhere) continue;
        const auto prefix = memory ? fmt::format("paths.{}.memory_latency", question.path)
                                   : fmt::format("caches.{}.latency", names.back());
        const auto range = by_sm.range();
        const Evidence evidence{fmt::format("{}: dependent loads that this level serves, mean of {} SMs",
                                            question.experiment, by_sm.sms.size()),
                                kPathConfidence};
        if (i > 0 && findings.overlap_unknown) {
            outcome.estimates.push_back(at_least(prefix, by_sm.mean(), evidence));
            continue;
        }
        outcome.estimates.push_back(decided_integer(
            prefix, {by_sm.mean(), static_cast<double>(range[0]), static_cast<double>(range[1])}, evidence));
        if (static_cast<double>(range[1] - range[0]) > clock_step(context.findings) + kSpreadOfMany * by_sm.uncertainty)
            outcome.estimates.push_back(
                decided(prefix + "_range", range,
                        {fmt::format("{}: smallest and largest of the SMs", question.experiment), kPathConfidence}));
    }
    outcome.traces.push_back(std::move(trace));
    add_nearest_trace(findings, question, outcome);
    const Evidence evidence{question.experiment + ": levels of latency against the size of the array", kPathConfidence};
    const auto path = fmt::format("paths.{}.caches", question.path);
    outcome.estimates.push_back(findings.overlap_unknown && names.size() > 1 ? undecided(path, {}, evidence)
                                                                             : decided(path, names, evidence));
}

}  // namespace gputomo::experiments
