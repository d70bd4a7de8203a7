#include "experiments/caches/cached_path.hpp"

#include "experiments/caches/miss_map.hpp"
#include "measure/chase/chase_array.hpp"
#include "measure/chase/settled_latency.hpp"
#include "measure/kernel/device_facts.hpp"
#include "results/estimates.hpp"
#include "units/statistics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace gputomo::experiments {
namespace {

constexpr double kConfidence = 0.97;
/// Laps after which an array that fits is there, whatever the replacement; loads that a latency is taken of.
constexpr std::uint64_t kWarmLaps = 4;
constexpr std::uint64_t kLoads = 1024, kLoadsPerSm = 256;
/// Of the latency of global memory; below it a load is served by a cache.
constexpr double kOfMemory = 0.7;
/// Standard deviations of a median by which those of a hundred equal SMs differ.
constexpr double kSpreadOfMany = 6;
/// Behind a cache, single loads are placed no finer than this, or than its line.
constexpr std::uint64_t kFinestBehind = 64;
/// Geometry of small caches takes no more loads than this a lap.
constexpr std::uint64_t kMostGeometryLoads = 1 << 15;

results::Trace trace_of(const PathQuestion& question, const deduce::LevelSweep& sweep) {
    results::Trace trace{.name = question.experiment + "/levels", .experiment = question.experiment};
    trace.columns = {{"size", "bytes", {}},
                     {"median", "cycles", {}},
                     {"low", "cycles", {}},
                     {"high", "cycles", {}},
                     {"mean", "cycles", {}}};
    for (const auto& point : sweep.points) {
        const double row[] = {static_cast<double>(point.bytes), point.median, point.low, point.high, point.mean};
        for (std::size_t i = 0; i < std::size(row); ++i) trace.columns[i].values.push_back(row[i]);
    }
    trace.plot = {
        fmt::format("Latency of a dependent load of the path \"{}\" against the size of the array", question.path),
        "size",
        {"mean", "low", "high"},
        true,
        false};
    return trace;
}

/// Nearest and farthest of each SM's latency.
struct BySm {
    std::vector<double> sms, latencies;
    double uncertainty = 0;  ///< of one SM's latency, cycles
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
    const auto tour = findings.tour_of(index, question);
    const auto [low, high] = findings.borders_of(index);
    const auto sms = sms_of(context.device);
    BySm by_sm;
    for (std::uint32_t sm = 0; sm < sms; ++sm) {
        const auto walk = [&] {
            auto latencies =
                question.walk(tour, kWarmLaps * tour.size(),
                              std::max<std::uint64_t>(kLoadsPerSm, std::min<std::uint64_t>(tour.size(), kLoads)), sm);
            std::erase_if(latencies, [low, high](double latency) { return latency < low || latency > high; });
            return latencies;
        };
        const auto of_sm = settled_latency(walk, clock_step(context.findings));
        if (!of_sm) continue;
        by_sm.sms.push_back(sm);
        by_sm.latencies.push_back(of_sm->latency);
        by_sm.uncertainty = std::max(by_sm.uncertainty, of_sm->uncertainty);
    }
    return by_sm;
}

/// Whether what lies behind all caches that a walk fills can be memory: no path is that much faster than the one of
/// global memory.
bool is_memory(const Context& context, double latency) {
    const auto global = context.findings.number("paths.global.memory_latency");
    return !global || latency > kOfMemory * *global;
}

/// A cache larger than the largest array.
void add_unfilled(const std::string& name, const PathQuestion& question, Outcome& outcome) {
    auto capacity =
        undecided(fmt::format("caches.{}.capacity", name), {},
                  {fmt::format("{}: larger than the largest array, {} bytes", question.experiment, question.largest),
                   kConfidence});
    outcome.estimates.push_back(std::move(capacity));
    outcome.estimates.push_back(
        undecided(fmt::format("paths.{}.memory_latency", question.path), {},
                  {question.experiment + ": no array was larger than all caches", kConfidence}));
}

/// What the walk sees of a latency.
results::Estimate at_least(const std::string& path, double seen, Evidence evidence) {
    evidence.note = fmt::format("at least {:.0f}: what a nearer level's time hides is not known", seen);
    return undecided(path, {}, evidence);
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

std::vector<std::uint64_t> PathFindings::tour_of(std::size_t index, const PathQuestion& question) const {
    std::uint64_t stride = question.stride;
    for (std::size_t i = 0; i < std::min(index + 1, caches.size()); ++i)
        if (caches[i].findings.line.confidence > 0)
            stride = std::max(stride, static_cast<std::uint64_t>(caches[i].findings.line.value));
    // Twice the cache before, so that each of its sets overflows.
    std::uint64_t bytes = index == 0
                              ? 0
                              : std::max(caches[index - 1].level.overflows,
                                         2 * static_cast<std::uint64_t>(caches[index - 1].findings.capacity.value));
    // A quarter: with replacement other than LRU an array of the level's full size need not be there.
    bytes = index < caches.size() ? std::min(std::max(bytes, caches[index].level.fits / 4), caches[index].level.fits)
                                  : std::min(bytes, question.room);
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
        const bool seen = near.size() == i;
        if (seen) {
            const std::uint64_t visible = i == 0 ? question.word : near.back().line;
            deduce::CacheQuestion asked{.threshold = (cache.level.latency + cache.next_latency) / 2,
                                        .fits = cache.level.fits,
                                        .overflows = cache.level.overflows,
                                        .buffer_bytes = question.room,
                                        .word = i == 0 ? question.word : std::min(near.front().line, kFinestBehind),
                                        .probe_stride = visible,
                                        .filtered = i > 0,
                                        .code_bytes = i == 0 ? question.occupied : 0,
                                        .max_pass_loads = kMostGeometryLoads,
                                        .seed = context.seed};
            UnfilteredLineChase unhidden(question.chase_behind ? question.chase_behind : chase, near, question.room,
                                         std::min<std::uint64_t>(question.word, 8));
            cache.findings = deduce::deduce_geometry(
                i == 0 ? chase : deduce::Chase([&](const deduce::ChaseRequest& request) { return unhidden(request); }),
                asked);
        } else {
            cache.findings.capacity = {
                static_cast<std::int64_t>(cache.level.fits),
                0.5,
                {static_cast<std::int64_t>(cache.level.fits), static_cast<std::int64_t>(cache.level.overflows)},
                {}};
            cache.findings.remarks.emplace_back("a nearer cache whose sets are not known hides its geometry");
        }
        if (seen)
            if (const auto known =
                    upper_cache(cache.findings, chase, (cache.level.latency + cache.next_latency) / 2, question.room))
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

namespace {

/// Of the nearest cache, for people to look at: it hides the others from a walk.
void add_nearest_trace(const PathFindings& findings, const PathQuestion& question, Outcome& outcome) {
    if (findings.caches.empty()) return;
    const auto& nearest = findings.caches.front();
    const auto known = [](const deduce::Finding& finding) {
        return finding.confidence > 0.5 ? static_cast<std::uint64_t>(finding.value) : 0;
    };
    const auto walk = [&](const std::vector<std::uint64_t>& offsets, std::uint64_t warm, std::uint64_t loads) {
        return question.walk(offsets, warm, loads, std::nullopt);
    };
    add_miss_map(walk,
                 {question.experiment, nearest.name, known(nearest.findings.capacity), known(nearest.findings.line),
                  question.room},
                 outcome.traces);
}

}  // namespace

std::optional<double> seen_latency(Context& context, const PathFindings& findings, std::size_t index,
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
            for (double& latency : by_sm.latencies) latency += findings.hidden;
        for (std::size_t s = 0; s < by_sm.sms.size(); ++s) {
            const double row[] = {static_cast<double>(i + 1), by_sm.sms[s], by_sm.latencies[s]};
            for (std::size_t column = 0; column < std::size(row); ++column)
                trace.columns[column].values.push_back(row[column]);
        }
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
                                kConfidence};
        if (i > 0 && findings.hidden_unknown) {
            outcome.estimates.push_back(at_least(prefix, by_sm.mean(), evidence));
            continue;
        }
        outcome.estimates.push_back(decided_integer(
            prefix, {by_sm.mean(), static_cast<double>(range[0]), static_cast<double>(range[1])}, evidence));
        if (static_cast<double>(range[1] - range[0]) > clock_step(context.findings) + kSpreadOfMany * by_sm.uncertainty)
            outcome.estimates.push_back(
                decided(prefix + "_range", range,
                        {fmt::format("{}: smallest and largest of the SMs", question.experiment), kConfidence}));
    }
    outcome.traces.push_back(std::move(trace));
    add_nearest_trace(findings, question, outcome);
    const Evidence evidence{question.experiment + ": levels of latency against the size of the array", kConfidence};
    const auto path = fmt::format("paths.{}.caches", question.path);
    outcome.estimates.push_back(findings.hidden_unknown && names.size() > 1 ? undecided(path, {}, evidence)
                                                                            : decided(path, names, evidence));
}

void measure_path(Context& context, ChaseArray& array, PathQuestion question, Outcome& outcome) {
    question.least_step = least_level_step(context.findings);
    question.walk = [&](const auto& offsets, std::uint64_t warm, std::uint64_t loads, std::optional<std::uint32_t> sm) {
        return array.latencies(offsets, warm, loads, sm);
    };
    const auto findings = measure_caches(context, array.chase(), question, outcome);
    report_caches(findings, question, outcome);
    array.describe(0.8, "latency by SM");
    measure_latencies(context, findings, question, outcome);
}

}  // namespace gputomo::experiments
