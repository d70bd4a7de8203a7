#include "experiments/tlbs/tlb_levels.hpp"

#include "experiments/caches/known_caches.hpp"
#include "results/estimates.hpp"
#include "units/statistics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

namespace gputomo::experiments {
namespace {

constexpr double kConfidence = 0.95;
constexpr std::uint64_t kFirstElements = 2;
/// Readings wanted of a small range, where few elements make a level; odd laps, so that a median is a reading and not
/// the mean of one and an accident.
constexpr std::uint64_t kReadings = 1024, kLeastLaps = 3;
/// How sure what a level takes has to be where jitter spreads readings over several steps of the clock, in cycles, and
/// loads that this may cost.
constexpr double kSure = 0.1;
constexpr std::uint64_t kMostSettlingLoads = 1 << 17;
/// Elements read differently, for what is taken off of each: of two, that does not even out, of so many times as many
/// it does.
constexpr std::uint64_t kSettlingRanges = 16;
/// Loads of one lap at most.
constexpr std::uint64_t kMostLoads = 1 << 14;
/// Each costs several: those that tell what the data take.
constexpr std::uint64_t kGroupTestLoads = 1 << 20;
/// A load this much slower than all loads of a small range missed a TLB ...
constexpr double kPlainMargin = 5, kAliasedMargin = 7;
/// ... and by more than jitter makes of three laps; accidents are no jitter ...
constexpr double kJitterMargin = 1.5, kNotAccidents = 0.9;
/// ... if this share of loads did; single loads are slow for other reasons. An entry that spans 32 loads of the sweep
/// over a plain array, or 16 pages of an aliased one, is still seen.
constexpr double kPlainShare = 0.025, kAliasedShare = 0.05;
/// Of a small range, one element may be slow in half of its laps by accident.
constexpr std::size_t kFewestSlow = 2;
/// Part of the smallest range that overflows which is room enough to look at a level, if a switch to other pages is
/// avoided by that.
constexpr double kRoomEnough = 1.5;

/// Loads that are answered after a certain translation effort.
struct Effort {
    double latency = 0;           ///< median
    double ceiling = 0;           ///< nearly all of its loads are faster
    std::uint64_t fits = 0;       ///< largest range tried without slower loads
    std::uint64_t overflows = 0;  ///< next larger one; 0: none
    /// Latencies by range. Where the clock steps in several cycles, all slow loads of one range may begin at the same
    /// part of a step, and read up to half a step too little or too much.
    std::vector<double> by_range;
    double limit = 0;         ///< elements of the level are slower than this ...
    std::uint64_t first = 0;  ///< ... in the smallest range that showed it
    double uncertainty = 0;   ///< where jitter decides which steps of the clock are read
    [[nodiscard]] double spread() const { return ceiling - latency; }
};

/// How far nine of ten readings lie from their element's median: what jitter leaves of a median of a few laps is less.
double jitter_of(const std::vector<double>& latencies, const std::vector<double>& medians) {
    std::vector<double> distances;
    for (std::size_t i = 0; i < latencies.size(); ++i)
        distances.push_back(std::abs(latencies[i] - medians[i % medians.size()]));
    return quantile(std::move(distances), kNotAccidents);
}

/// Readings of laps over a range, and the median of each element.
struct Readings {
    std::vector<double> all, medians;
    [[nodiscard]] std::vector<double> medians_above(double limit) const {
        std::vector<double> slow;
        std::ranges::copy_if(medians, std::back_inserter(slow), [limit](double latency) { return latency > limit; });
        return slow;
    }
    /// All readings of these elements: medians of few laps lie on the steps of the clock.
    [[nodiscard]] std::vector<double> of_elements_above(double limit) const {
        std::vector<double> slow;
        for (std::size_t i = 0; i < all.size(); ++i)
            if (medians[i % medians.size()] > limit) slow.push_back(all[i]);
        return slow;
    }
};

Readings walk_range(TranslationChase& chase, std::uint64_t bytes, std::uint64_t stride) {
    const auto laps = static_cast<std::uint32_t>(std::max<std::uint64_t>(kLeastLaps, kReadings * stride / bytes) | 1);
    Readings readings{chase({deduce::strided(bytes, stride), 2, laps}).latencies, {}};
    readings.medians = medians_of_elements(readings.all, laps);
    return readings;
}

/// Where jitter reaches beyond a step of the clock, walks a range that shows each level until what the level takes is
/// sure; where it doesn't, what the steps of the clock add or take is the same for all loads of a range.
void settle(TranslationChase& chase, std::uint64_t stride, double clock_step, bool jitter,
            std::vector<Effort>& efforts) {
    for (auto& effort : efforts) {
        if (!jitter) {
            if (effort.by_range.empty()) continue;
            const auto [low, high] = std::ranges::minmax(effort.by_range);
            // What the steps add is the same for all loads of the small range that shows the first level; what jitter
            // leaves of its few elements is not.
            if (clock_step <= 1)
                effort.latency = median(effort.by_range);
            else if (&effort != &efforts.front())
                effort.latency = (low + high) / 2;
            continue;
        }
        std::vector<double> readings;
        std::uint64_t range = effort.first;
        while (2 * range <= std::min(effort.fits, kSettlingRanges * effort.first)) range *= 2;
        for (std::uint64_t loads = 0; loads < kMostSettlingLoads;) {
            const auto walked = walk_range(chase, range, stride);
            const auto of_level = walked.of_elements_above(effort.limit);
            readings.insert(readings.end(), of_level.begin(), of_level.end());
            loads += walked.all.size();
            const auto settled = location(readings, clock_step);
            if (!readings.empty()) effort.latency = settled.median;
            if (!readings.empty() && settled.uncertainty < kSure) break;
        }
    }
}

/// Doubles the range; a new level is there when enough loads are slower than any before (not their median: of several
/// loads within one entry's span only the first can miss).
std::vector<Effort> find_efforts(TranslationChase& chase, std::uint64_t stride, double clock_step,
                                 results::Trace& trace) {
    std::vector<Effort> efforts;
    double most_jitter = 0;
    for (std::uint64_t bytes = kFirstElements * stride; bytes <= chase.window().bytes; bytes *= 2) {
        const auto readings = walk_range(chase, bytes, stride);
        const double jitter = kJitterMargin * jitter_of(readings.all, readings.medians);
        most_jitter = std::max(most_jitter, jitter);
        const double row[] = {static_cast<double>(bytes), median(readings.medians), quantile(readings.medians, 0.05),
                              quantile(readings.medians, 0.99)};
        for (std::size_t i = 0; i < std::size(row); ++i) trace.columns[i].values.push_back(row[i]);
        const double uncertainty = jitter > 0 ? clock_step / 2 : 0;
        if (efforts.empty()) {
            const double latency = mean_near_median(readings.all, clock_step);
            efforts.push_back(
                {latency, row[3], bytes, 0, {latency}, std::numeric_limits<double>::lowest(), bytes, uncertainty});
            continue;
        }
        // Loads of one level differ, by the slices of a cache for one, and so do those of the next.
        const double margin = std::max({chase.window().aliased ? kAliasedMargin : kPlainMargin,
                                        efforts.front().spread(), efforts.back().spread(), jitter});
        const double limit = efforts.back().ceiling + margin;
        const auto slow = readings.medians_above(limit);
        const double share = chase.window().aliased ? kAliasedShare : kPlainShare;
        if (slow.size() >= kFewestSlow &&
            static_cast<double>(slow.size()) > share * static_cast<double>(readings.medians.size())) {
            efforts.back().overflows = bytes;
            const double latency = mean_near_median(readings.of_elements_above(limit), clock_step);
            efforts.push_back({latency, quantile(slow, 0.98), bytes, 0, {latency}, limit, bytes, uncertainty});
        } else {
            efforts.back().fits = bytes;
            const double of_level = efforts.size() > 1 ? efforts[efforts.size() - 2].ceiling + margin
                                                       : std::numeric_limits<double>::lowest();
            if (const auto of_range = readings.of_elements_above(of_level); !of_range.empty())
                efforts.back().by_range.push_back(mean_near_median(of_range, clock_step));
        }
    }
    settle(chase, stride, clock_step, most_jitter > kJitterMargin * clock_step, efforts);
    return efforts;
}

/// Other policies than LRU and FIFO keep an entry now and then for longer than there are ways. So does FIFO where a
/// tour takes any order; but twice as many entries in between, which would do, would push the one that is asked about
/// out of a farther TLB.
UpperTlb near_tlb(const deduce::CacheFindings& findings) {
    const auto ways = static_cast<std::uint64_t>(findings.ways.value);
    const bool in_order = findings.policy.name == "lru" || findings.policy.name == "fifo";
    return {static_cast<std::uint64_t>(findings.line.value), static_cast<std::uint64_t>(findings.sets.value),
            in_order ? ways : ways + ways / 2 + 2};
}

void add_tlb(const std::string& name, const FoundTlb& tlb, const std::string& experiment, Outcome& outcome) {
    const auto prefix = "tlbs." + name;
    for (auto& estimate : deduce::tlb_estimates(tlb.findings, prefix, experiment))
        outcome.estimates.push_back(std::move(estimate));
    for (const auto& remark : tlb.findings.remarks) outcome.warnings.push_back(fmt::format("{}: {}", name, remark));
    if (!tlb.confirmed()) return;
    auto penalty =
        decided(prefix + ".miss_penalty", static_cast<std::int64_t>(std::llround(tlb.penalty)),
                {experiment + ": difference of the medians of loads that hit here and in the next level", kConfidence});
    penalty.interval = {tlb.penalty - tlb.spread, tlb.penalty + tlb.spread};
    outcome.estimates.push_back(std::move(penalty));
}

results::Trace levels_trace(const std::string& name) {
    results::Trace trace{.name = name, .experiment = name.substr(0, name.find('/'))};
    trace.columns = {{"range", "bytes", {}}, {"median", "cycles", {}}, {"low", "cycles", {}}, {"high", "cycles", {}}};
    trace.plot = {"What a dependent load takes for translation against the range of addresses",
                  "range",
                  {"median", "high"},
                  true,
                  false};
    return trace;
}

}  // namespace

DataCaches data_caches(const Findings& findings, const std::string& path, const std::string& prefix) {
    DataCaches caches;
    for (int level = 1; level <= 3; ++level) {
        caches.capacity = std::max(
            caches.capacity, static_cast<std::uint64_t>(most_capacity(findings, fmt::format("{}{}", prefix, level))));
        const auto cached = findings.number(fmt::format("caches.{}{}.latency", prefix, level));
        const auto memory = findings.number(fmt::format("paths.{}.memory_latency", path));
        if (cached && memory) caches.miss_cost = *memory - *cached;
    }
    return caches;
}

std::vector<FoundTlb> find_tlbs(Context& context, const MappedWindow& mapped, const TlbQuestion& asked,
                                Outcome& outcome) {
    TranslationChase translation(context, mapped, asked.caches, asked.hint, asked.page_windows);
    translation.add_code_checks(outcome);
    const Window& window = translation.window();
    translation.describe(0.1, "levels of translation");
    auto trace = levels_trace(asked.trace);
    const auto efforts = find_efforts(translation, asked.stride, clock_step(context.findings), trace);
    outcome.traces.push_back(std::move(trace));
    std::vector<FoundTlb> found;
    deduce::CacheQuestion question{.buffer_bytes = window.bytes,
                                   .word = window.word,
                                   .probe_stride = window.word,
                                   .max_pass_loads = kMostLoads,
                                   .group_test_loads = kGroupTestLoads,
                                   .seed = context.seed};
    deduce::Chase chase = translation.chase();
    // What it takes to switch to other pages reads like a miss, or is known to some cycles only.
    const std::uint64_t active =
        asked.page_windows.bytes > 0 ? std::min(asked.page_windows.bytes, window.bytes) : window.bytes;
    const auto suffices = [&](std::uint64_t room, std::size_t level) {
        return static_cast<double>(room) >= kRoomEnough * static_cast<double>(efforts[level].overflows);
    };
    if (suffices(active, 0)) question.buffer_bytes = active;
    std::vector<UpperTlb> near;
    for (std::size_t level = 0; level + 1 < efforts.size(); ++level) {
        question.threshold = (efforts[level].latency + efforts[level + 1].latency) / 2;
        question.fits = efforts[level].fits;
        question.overflows = efforts[level].overflows;
        translation.describe(0.3 + 0.3 * static_cast<double>(level), fmt::format("geometry of level {}", level + 1));
        found.push_back(
            {deduce::deduce_geometry(chase, question), efforts[level + 1].latency - efforts[level].latency,
             std::max(efforts.front().spread(), efforts[level].uncertainty + efforts[level + 1].uncertainty)});
        if (!found.back().has_geometry()) continue;
        near.push_back(near_tlb(found.back().findings));
        UnfilteredTlbChase unhidden(translation, near, active);
        if (!suffices(unhidden.end(), level + 1)) unhidden = UnfilteredTlbChase(translation, near, window.bytes);
        if (unhidden.end() == 0) continue;
        question.buffer_bytes = unhidden.end();
        question.probe_stride = near.back().span;
        question.filtered = true;
        chase = unhidden;
    }
    return found;
}

void report_tlbs(const std::vector<FoundTlb>& found, const std::string& path, std::uint64_t range,
                 const std::string& experiment, Outcome& outcome) {
    std::vector<std::string> names;
    for (const auto& tlb : found) {
        names.push_back(fmt::format("{}_l{}", path, names.size() + 1));
        add_tlb(names.back(), tlb, experiment, outcome);
    }
    Evidence evidence{
        experiment + ": levels of latency against the range of addresses, the latency of the data taken off",
        kConfidence};
    if (names.empty())
        evidence.note = fmt::format("no translation missed a TLB within {} MiB of addresses", range >> 20);
    const bool confirmed = std::ranges::all_of(found, &FoundTlb::confirmed);
    const auto leaf = fmt::format("paths.{}.tlbs", path);
    outcome.estimates.push_back(confirmed ? decided(leaf, names, evidence) : undecided(leaf, {}, evidence));
}

}  // namespace gputomo::experiments
