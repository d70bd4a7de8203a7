// The caches on the way to global memory: their levels, their geometry, and the latency of memory beyond them.
#include "experiments/experiments.hpp"

#include "deduce/cache/findings/cache_estimates.hpp"
#include "deduce/cache/geometry/geometry.hpp"
#include "deduce/cache/levels/levels.hpp"
#include "experiments/caches/hierarchy.hpp"
#include "experiments/caches/memory_latency.hpp"
#include "experiments/caches/miss_map.hpp"
#include "experiments/caches/overfill_sweep.hpp"
#include "experiments/clock/clock_watch.hpp"
#include "measure/chase/chase_array.hpp"
#include "results/estimates.hpp"
#include "units/statistics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace gputomo::experiments {
namespace caches {
namespace {

/// Confidence of latencies and of the list of caches, a judgement and no measured frequency. No deduction reads
/// it; reports show it.
constexpr double kConfidence = 0.97;
/// The largest array is this many times the L2 that the driver reports, or `kLargestUncached` bytes if it reports none.
/// A smaller one may not overflow the L2; a larger one takes longer.
constexpr std::int64_t kTimesL2 = 8;
constexpr std::int64_t kLargestUncached = std::int64_t{4} << 20;
/// The largest array takes no more than 1/8 of device memory; twice that is allocated to align the buffer.
constexpr std::int64_t kPartOfMemory = 8;
/// Bytes over which lines that lie far apart are spread, which is more than a pass over an array needs.
constexpr std::uint64_t kBufferBytes = std::uint64_t{64} << 20;
/// Most loads of one pass beyond the L1: the larger of 2^19 and 1.25 times the L2 lines that the driver reports.
constexpr std::uint64_t kMostFarLoads = 1 << 19;
constexpr double kTimesLines = 1.25;
/// Passes after which an array that fits is resident under any replacement policy, and the fewest loads of a mean.
constexpr std::uint64_t kWarmPasses = 4;
constexpr std::uint64_t kLeastLoads = 1024;

std::uint64_t largest_array(const device::Device& device) {
    using enum device::Attribute;
    const auto l2 = device.attribute(l2_cache_bytes).value_or(0);
    const auto memory = device.attribute(total_memory_bytes).value_or(std::int64_t{256} << 20);
    // Loads past the first level begin with arrays of kSmallestFar bytes, even if the L2 is smaller.
    const auto wanted =
        l2 > 0 ? std::max(kTimesL2 * l2, static_cast<std::int64_t>(4 * kSmallestFar)) : kLargestUncached;
    return std::bit_floor(static_cast<std::uint64_t>(std::min(wanted, memory / kPartOfMemory)));
}

std::uint64_t most_far_loads(const device::Device& device) {
    const auto l2 = static_cast<double>(device.attribute(device::Attribute::l2_cache_bytes).value_or(0));
    return std::max(kMostFarLoads, static_cast<std::uint64_t>(kTimesLines * l2 / static_cast<double>(kFarStride)));
}

/// The latency over all addresses of an array, because the latency of a cache in slices depends on the address.
results::Estimate latency_of(const FoundCache& cache, const std::string& prefix) {
    // A quarter of what fits: without LRU replacement an array of the full size need not be resident.
    const auto offsets = deduce::strided(std::max(cache.level.fits / 4, cache.smallest), cache.stride);
    const auto mean = cache.array->mean(offsets, 0, kWarmPasses * offsets.size(),
                                        std::max<std::uint64_t>(offsets.size(), kLeastLoads));
    const Evidence evidence{
        "caches: mean of the dependent loads of an array that fits; the interval holds 90% of the single loads",
        kConfidence};
    return decided_integer(prefix + ".latency", {mean.value_or(cache.level.latency), cache.level.low, cache.level.high},
                           evidence);
}

void add_cache(const FoundCache& cache, std::uint64_t buffer_bytes, std::uint64_t seed, Outcome& outcome) {
    const auto prefix = "caches." + cache.name;
    outcome.estimates.push_back(latency_of(cache, prefix));
    if (cache.level.overflows == 0) {
        outcome.warnings.push_back(fmt::format(
            "the capacity of {} is unknown, because the cache is larger than the largest array", cache.name));
        return;
    }
    deduce::CacheQuestion question;
    // Between the medians, because the slowest loads of a level that just overflows are those of the next level.
    question.threshold = (cache.level.latency + cache.next_latency) / 2;
    question.fits = cache.level.fits;
    question.overflows = cache.level.overflows;
    question.buffer_bytes = buffer_bytes;
    question.probe_stride = question.word;
    question.seed = seed;
    question.base = cache.array->base();
    cache.array->describe(cache.name == "l1" ? 0.4 : 0.6, "geometry of " + cache.name);
    const auto findings = deduce::deduce_geometry(cache.array->chase(), question);
    const bool exact = findings.capacity.confidence > deduce::kBracketedConfidence;
    const OverfillQuestion overfill{
        cache.name,
        "caches",
        cache.level,
        cache.next_latency,
        findings.line.confidence > 0 ? static_cast<std::uint64_t>(findings.line.value) : cache.stride,
        buffer_bytes,
        !exact};
    const auto beyond = measure_overfill(*cache.array, overfill, outcome);
    const auto read_off = exact ? std::nullopt : capacity_of(beyond, overfill);
    for (auto& estimate : deduce::cache_estimates(findings, prefix, "caches")) {
        if (read_off && estimate.path == read_off->path) estimate = *read_off;
        outcome.estimates.push_back(std::move(estimate));
    }
    for (const auto& remark : findings.remarks) outcome.warnings.push_back(fmt::format("{}: {}", cache.name, remark));
}

/// Adds maps of hits and misses of the caches whose lines are known, for the report.
void add_trace_maps(const Hierarchy& hierarchy, std::uint64_t buffer_bytes, Outcome& outcome) {
    const auto number = [&](const std::string& path) {
        const auto found = std::ranges::find(outcome.estimates, path, &results::Estimate::path);
        const auto* value = found == outcome.estimates.end() || found->knowledge != results::Knowledge::known
                                ? nullptr
                                : std::get_if<std::int64_t>(&found->value);
        return value == nullptr ? std::uint64_t{0} : static_cast<std::uint64_t>(*value);
    };
    for (const auto& cache : hierarchy.caches) {
        const auto chase = [&](const std::vector<std::uint64_t>& offsets, std::uint64_t warm, std::uint64_t loads) {
            return cache.array->latencies(offsets, warm, loads, std::nullopt);
        };
        add_miss_map(chase,
                     {"caches", cache.name, number(fmt::format("caches.{}.capacity", cache.name)),
                      number(fmt::format("caches.{}.line", cache.name)), buffer_bytes},
                     outcome.traces);
    }
}

Outcome measure(Context& context) {
    Outcome outcome;
    const std::uint64_t largest = largest_array(context.device);
    const std::uint64_t buffer_bytes = std::max(largest, kBufferBytes);
    // The buffer is aligned to its own size, so that the same address bits select sets in every run.
    const device::Buffer memory(context.device, Bytes{static_cast<std::int64_t>(2 * buffer_bytes)});
    const device::Address base = (memory.address() + buffer_bytes - 1) / buffer_bytes * buffer_bytes;
    ChaseArray near(context, {.base = base}, LoadHint::all);
    ChaseArray far(context, {.base = base}, LoadHint::l2_only);
    for (const ChaseArray* array : {&near, &far}) add_code_checks(array->kernels(), outcome);
    const deduce::LevelQuestion question{.smallest = kSmallestFar,
                                         .largest = largest,
                                         .stride = kFarStride,
                                         .least_step = least_level_step(context.findings),
                                         .max_pass_loads = most_far_loads(context.device)};
    const auto hierarchy = find_hierarchy(near, far, question, outcome);
    std::vector<std::string> names;
    for (const auto& cache : hierarchy.caches) {
        names.push_back(cache.name);
        add_cache(cache, buffer_bytes, context.seed, outcome);
    }
    outcome.estimates.push_back(
        decided("paths.global.caches", names,
                {"caches: levels of latency against array size, with and without the first level", kConfidence}));
    add_memory_latency(context, hierarchy, far, largest, outcome);
    add_trace_maps(hierarchy, buffer_bytes, outcome);
    return outcome;
}

Outcome run(Context& context) { return watched(context, measure); }

}  // namespace
}  // namespace caches

Experiment caches_experiment() {
    return {.id = "caches",
            .title = "caches on the way to global memory, and the latency of memory",
            .source = "Wong 2010, III-B, IV-G; Mei 2014, 3.2",
            .method = "cache-geometry",
            .explanation =
                "One thread follows a pointer chain in random order through arrays of growing size. Each step in "
                "latency is a level of cache that the array no longer fits. Capacity, line size, sets, ways and "
                "replacement policy follow from which groups of lines stay resident together and which line each "
                "miss evicts.",
            .needs = {},
            .after = {"clock"},
            .provides = {"caches.*.latency", "caches.*.capacity", "caches.*.line", "caches.*.sector", "caches.*.ways",
                         "caches.*.sets", "caches.*.set_ways", "caches.*.index", "caches.*.index_bits",
                         "caches.*.index_hash", "caches.*.policy", "caches.*.way_odds", "paths.global.caches",
                         "paths.global.memory_latency", "paths.global.memory_latency_range",
                         "paths.global.memory_latency_line_range"},
            .run = caches::run};
}

}  // namespace gputomo::experiments
