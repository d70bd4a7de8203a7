// The caches on the way to global memory: which there are, their geometry, and how far the memory behind them is.
#include "experiments/experiments.hpp"

#include "deduce/cache/geometry.hpp"
#include "deduce/cache/levels.hpp"
#include "experiments/caches/miss_map.hpp"
#include "experiments/caches/overfill_walks.hpp"
#include "experiments/clock/clock_watch.hpp"
#include "measure/chase/chase_array.hpp"
#include "measure/chase/settled_latency.hpp"
#include "measure/kernel/device_facts.hpp"
#include "results/estimates.hpp"
#include "units/statistics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>

namespace gputomo::experiments {
namespace {

constexpr double kConfidence = 0.97;
/// First-level caches are looked for up to here, word by word; beyond, loads go past the first level.
constexpr std::uint64_t kLargestNear = std::uint64_t{2} << 20;
constexpr std::uint64_t kSmallestFar = std::uint64_t{32} << 10;
/// Arrays this many times as large as the L2 that the driver names; where it names none, kLargestUncached.
constexpr std::int64_t kTimesL2 = 8;
constexpr std::int64_t kLargestUncached = std::int64_t{4} << 20;
/// And no more than this part of the memory, of which twice as much is taken to have so much aligned.
constexpr std::int64_t kPartOfMemory = 8;
/// For lines far apart, more than for arrays walked line by line.
constexpr std::uint64_t kRoom = std::uint64_t{64} << 20;
constexpr std::uint64_t kNearStride = 64;
constexpr std::uint64_t kFarStride = 128;
constexpr std::uint64_t kMostNearLoads = 1 << 16;
/// Of a lap past the first level: so many, or so many times the lines of the L2 that the driver names.
constexpr std::uint64_t kMostFarLoads = 1 << 19;
constexpr double kTimesLines = 1.25;
/// Loads of memory go through so many lines, more than caches keep of what was written there last.
constexpr std::uint64_t kMemoryLines = 1 << 20;
/// Two paths whose nearest latencies differ by more than this share do not start at the same cache; nor do they where
/// one of them misses in arrays that the other's first cache serves.
constexpr double kNearer = 0.1;
/// Confidence of a capacity that is only known to lie in an interval.
constexpr double kOpen = 0.5;
/// SMs tried for the spread of the memory latency.
constexpr std::uint32_t kMostSms = 32;
constexpr std::uint64_t kLoadsPerSm = 256;
/// Laps after which an array that fits is there, whatever the replacement; loads that a mean is taken of, at least.
constexpr std::uint64_t kWarmLaps = 4;
constexpr std::uint64_t kLeastLoads = 1024;

std::uint64_t largest_array(const device::Device& device) {
    using enum device::Attribute;
    const auto l2 = device.attribute(l2_cache_bytes).value_or(0);
    const auto memory = device.attribute(total_memory_bytes).value_or(std::int64_t{256} << 20);
    // Loads past the first level begin with arrays of kSmallestFar, however small the L2 is.
    const auto wanted =
        l2 > 0 ? std::max(kTimesL2 * l2, static_cast<std::int64_t>(4 * kSmallestFar)) : kLargestUncached;
    return std::bit_floor(static_cast<std::uint64_t>(std::min(wanted, memory / kPartOfMemory)));
}

std::uint64_t most_far_loads(const device::Device& device) {
    const auto l2 = static_cast<double>(device.attribute(device::Attribute::l2_cache_bytes).value_or(0));
    return std::max(kMostFarLoads, static_cast<std::uint64_t>(kTimesLines * l2 / static_cast<double>(kFarStride)));
}

/// A cache and what lies behind it, as seen by one chase.
struct FoundCache {
    std::string name;
    deduce::Level level;
    double next_latency = 0;  ///< of what lies behind
    ChaseArray* array = nullptr;
    std::uint64_t stride = kNearStride;
    std::uint64_t smallest = 512;  ///< array that only this cache serves on that chase
};

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

/// The levels that one chase sees in front of its last one.
void append_caches(std::vector<FoundCache>& caches, const deduce::LevelSweep& sweep, ChaseArray& array,
                   int first_number) {
    for (std::size_t i = 0; i + 1 < sweep.levels.size(); ++i)
        caches.push_back({fmt::format("l{}", first_number + static_cast<int>(i)), sweep.levels[i],
                          sweep.levels[i + 1].latency, &array, kFarStride,
                          i > 0 ? sweep.levels[i - 1].overflows : kSmallestFar});
}

/// Passes chases on and counts the latencies of each array size, for whoever wants to look at the distribution.
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
        trace.plot = {.title = "How many loads took how long, by size of the array",
                      .x = "size",
                      .y = {"latency"},
                      .log_x = true,
                      .shade = "loads"};
        for (const auto& [size, counts] : counts_)
            for (const auto& [latency, loads] : counts) {
                trace.columns[0].values.push_back(static_cast<double>(size));
                trace.columns[1].values.push_back(static_cast<double>(latency));
                trace.columns[2].values.push_back(static_cast<double>(loads));
            }
        return trace;
    }

private:
    std::string name_;
    deduce::Chase chase_;
    std::map<std::uint64_t, std::map<std::int64_t, std::int64_t>> counts_;
};

struct Hierarchy {
    std::vector<FoundCache> caches;
    deduce::Level memory;
};

/// A first level is what only loads that may hit it see; the others are seen by loads that go past it, which also keep
/// the first level from hiding them.
Hierarchy find_hierarchy(ChaseArray& near, ChaseArray& far, deduce::LevelQuestion beyond_first, Outcome& outcome) {
    near.describe(0.05, "first-level caches");
    Distribution near_counts("caches/near_latencies", near.chase()), far_counts("caches/far_latencies", far.chase());
    const auto near_sweep =
        deduce::deduce_levels(std::ref(near_counts), {.largest = std::min(beyond_first.largest, kLargestNear),
                                                      .stride = kNearStride,
                                                      .least_step = beyond_first.least_step,
                                                      .max_pass_loads = kMostNearLoads});
    far.describe(0.2, "caches behind the first level");
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
        hierarchy.caches.push_back({"l1", nearest, beyond.latency, &near});
    append_caches(hierarchy.caches, far_sweep, far, 2);
    hierarchy.memory = far_sweep.levels.back();
    return hierarchy;
}

/// Of all its parts alike: the latency of a cache in slices depends on the address.
results::Estimate latency_of(const FoundCache& cache, const std::string& prefix) {
    // A quarter: with replacement other than LRU an array of the level's full size need not be there.
    const auto offsets = deduce::strided(std::max(cache.level.fits / 4, cache.smallest), cache.stride);
    const auto mean =
        cache.array->mean(offsets, 0, kWarmLaps * offsets.size(), std::max<std::uint64_t>(offsets.size(), kLeastLoads));
    const Evidence evidence{
        "caches: mean of the dependent loads of an array that fits; the interval holds 90% of the single loads",
        kConfidence};
    return decided_integer(prefix + ".latency", {mean.value_or(cache.level.latency), cache.level.low, cache.level.high},
                           evidence);
}

void add_cache(const FoundCache& cache, std::uint64_t room, std::uint64_t seed, Outcome& outcome) {
    const auto prefix = "caches." + cache.name;
    outcome.estimates.push_back(latency_of(cache, prefix));
    if (cache.level.overflows == 0) {
        outcome.warnings.push_back(fmt::format("{} is larger than the largest array tried", cache.name));
        return;
    }
    deduce::CacheQuestion question;
    // Between the medians: the slowest loads of a level that just overflows are the next level's already.
    question.threshold = (cache.level.latency + cache.next_latency) / 2;
    question.fits = cache.level.fits;
    question.overflows = cache.level.overflows;
    question.buffer_bytes = room;
    question.probe_stride = question.word;
    question.seed = seed;
    question.base = cache.array->base();
    cache.array->describe(cache.name == "l1" ? 0.4 : 0.6, "geometry of " + cache.name);
    const auto findings = deduce::deduce_geometry(cache.array->chase(), question);
    const bool exact = findings.capacity.confidence > kOpen;
    const OverfillQuestion overfill{
        cache.name,
        "caches",
        cache.level,
        cache.next_latency,
        findings.line.confidence > 0 ? static_cast<std::uint64_t>(findings.line.value) : cache.stride,
        room,
        !exact};
    const auto beyond = measure_overfill(*cache.array, overfill, outcome);
    const auto read_off = exact ? std::nullopt : capacity_of(beyond, overfill);
    for (auto& estimate : deduce::cache_estimates(findings, prefix, "caches")) {
        if (read_off && estimate.path == read_off->path) estimate = *read_off;
        outcome.estimates.push_back(std::move(estimate));
    }
    for (const auto& remark : findings.remarks) outcome.warnings.push_back(fmt::format("{}: {}", cache.name, remark));
}

/// Loads from memory, all of one list that is written once: each walk goes on where the last one ended, so that no
/// cache has what it asks for.
class MemoryLoads {
public:
    MemoryLoads(ChaseArray& far, const std::vector<std::uint64_t>& offsets, double threshold)
        : far_(far),
          written_(far.write(offsets)),
          threshold_(threshold),
          warm_(threshold > 0 ? kWarmLoads : offsets.size()) {}

    /// Latencies on one SM. Where a cache still has most of what the loads ask for, since the list was written there
    /// last, loads elsewhere in the list are tried: the few others may have been slow for more reasons, such as a new
    /// page.
    std::vector<double> on_sm(std::uint32_t sm) {
        for (std::uint64_t place = 0; place < kPlaces; ++place) {
            auto latencies = far_.on_sm(written_, at_, warm_, kLoadsPerSm, sm);
            // Within the first half: the list's end was probably written last.
            at_ = (at_ + warm_ + kLoadsPerSm) % std::max<std::uint64_t>(1, written_.size() / 2);
            std::erase_if(latencies, [this](double latency) { return latency < threshold_; });
            if (2 * latencies.size() >= kLoadsPerSm) return latencies;
        }
        return {};
    }

private:
    static constexpr std::uint64_t kPlaces = 5, kWarmLoads = 16;
    ChaseArray& far_;
    std::vector<device::Address> written_;
    double threshold_;
    std::uint64_t warm_, at_ = 0;
};

/// Mean latency of memory by SM: loads of an array that no cache holds, every SM from another element on.
void add_memory(Context& context, const Hierarchy& hierarchy, ChaseArray& far, std::uint64_t largest,
                Outcome& outcome) {
    const bool cached = !hierarchy.caches.empty();
    const double threshold = cached ? (hierarchy.caches.back().level.latency + hierarchy.memory.latency) / 2 : 0;
    const auto offsets = deduce::strided(cached ? largest : kSmallestFar,
                                         cached ? std::max(kFarStride, largest / kMemoryLines) : kFarStride);
    const auto sms = sms_of(context.device);
    const std::uint32_t every = (sms + kMostSms - 1) / kMostSms;
    const double step = clock_step(context.findings);
    far.describe(0.9, "memory latency by SM");
    results::Trace trace{.name = "caches/memory_by_sm", .experiment = "caches"};
    trace.columns = {{"sm", "id", {}}, {"latency", "cycles", {}}};
    trace.plot = {"Latency of memory by SM", "sm", {"latency"}, false, false};
    MemoryLoads loads(far, offsets, threshold);
    for (std::uint32_t sm = 0; sm < sms; sm += every) {
        const auto settled = settled_latency([&] { return loads.on_sm(sm); }, step);
        if (!settled) continue;
        trace.columns[0].values.push_back(sm);
        trace.columns[1].values.push_back(settled->latency);
    }
    const auto& by_sm = trace.columns[1].values;
    if (by_sm.empty()) return;
    const auto [low, high] = std::ranges::minmax(by_sm);
    const double mean = std::accumulate(by_sm.begin(), by_sm.end(), 0.0) / static_cast<double>(by_sm.size());
    auto latency = decided("paths.global.memory_latency", static_cast<std::int64_t>(std::llround(mean)),
                           {fmt::format("caches: median latency of memory on each of {} SMs, their mean; the interval "
                                        "holds 90% of the single loads",
                                        by_sm.size()),
                            kConfidence});
    latency.interval = {std::min(low, hierarchy.memory.low), std::max(high, hierarchy.memory.high)};
    outcome.estimates.push_back(std::move(latency));
    outcome.estimates.push_back(decided("paths.global.memory_latency_range",
                                        std::vector<std::int64_t>{std::llround(low), std::llround(high)},
                                        {"caches: smallest and largest of the SMs' medians", kConfidence}));
    outcome.traces.push_back(std::move(trace));
}

/// Of the caches whose lines are known, for people to look at.
void add_trace_maps(const Hierarchy& hierarchy, std::uint64_t room, Outcome& outcome) {
    const auto number = [&](const std::string& path) {
        const auto found = std::ranges::find(outcome.estimates, path, &results::Estimate::path);
        const auto* value = found == outcome.estimates.end() || found->knowledge != results::Knowledge::known
                                ? nullptr
                                : std::get_if<std::int64_t>(&found->value);
        return value == nullptr ? std::uint64_t{0} : static_cast<std::uint64_t>(*value);
    };
    for (const auto& cache : hierarchy.caches) {
        const auto walk = [&](const std::vector<std::uint64_t>& offsets, std::uint64_t warm, std::uint64_t loads) {
            return cache.array->latencies(offsets, warm, loads, std::nullopt);
        };
        add_miss_map(walk,
                     {"caches", cache.name, number(fmt::format("caches.{}.capacity", cache.name)),
                      number(fmt::format("caches.{}.line", cache.name)), room},
                     outcome.traces);
    }
}

Outcome measure(Context& context) {
    Outcome outcome;
    const std::uint64_t largest = largest_array(context.device);
    const std::uint64_t room = std::max(largest, kRoom);
    // Aligned to its own size, so that each run sees the same address bits choose sets.
    const device::Buffer memory(context.device, Bytes{static_cast<std::int64_t>(2 * room)});
    const device::Address base = (memory.address() + room - 1) / room * room;
    ChaseArray near(context, {.base = base}, LoadHint::all);
    ChaseArray far(context, {.base = base}, LoadHint::l2_only);
    for (const ChaseArray* array : {&near, &far}) array->add_code_checks(outcome);
    const deduce::LevelQuestion question{.smallest = kSmallestFar,
                                         .largest = largest,
                                         .stride = kFarStride,
                                         .least_step = least_level_step(context.findings),
                                         .max_pass_loads = most_far_loads(context.device)};
    const auto hierarchy = find_hierarchy(near, far, question, outcome);
    std::vector<std::string> names;
    for (const auto& cache : hierarchy.caches) {
        names.push_back(cache.name);
        add_cache(cache, room, context.seed, outcome);
    }
    outcome.estimates.push_back(
        decided("paths.global.caches", names,
                {"caches: levels of latency against array size, with and without the first level", kConfidence}));
    add_memory(context, hierarchy, far, largest, outcome);
    add_trace_maps(hierarchy, room, outcome);
    return outcome;
}

Outcome run(Context& context) { return watched(context, measure); }

}  // namespace

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
                         "paths.global.memory_latency", "paths.global.memory_latency_range"},
            .run = run};
}

}  // namespace gputomo::experiments
