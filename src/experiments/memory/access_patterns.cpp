// What limits the loads of one SM, for several patterns of addresses. The last cache and memory answer after very
// different times, which distinguishes a limited rate from a limited number of loads in flight.
#include "experiments/experiments.hpp"

#include "experiments/caches/known_caches.hpp"
#include "experiments/clock/clock_watch.hpp"
#include "experiments/memory/pattern_report.hpp"
#include "measure/bandwidth/access_loop.hpp"
#include "results/estimates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <memory>
#include <string_view>
#include <tuple>
#include <utility>

namespace gputomo::experiments {
namespace access_patterns {
namespace {

/// Bytes of a word.
constexpr int kWord = 4;
/// Launches of each point, of which the fastest counts.
constexpr int kRuns = 3;
constexpr int kWarp = AccessLoop::kWarp, kMostWarps = AccessLoop::kMostWarps;
/// Schedulers of an SM take warps in turn. Every fourth warp therefore belongs to the same scheduler on each GPU with
/// four of them (compute capability 3.0 and later).
constexpr int kSchedulers = 4;
/// Loads of a thread, at most `kMostOfLines` if they touch several lines, which is enough. ptxas tracks no more
/// than 63.
constexpr int kLoads[] = {1, 2, 4, 8, 16, 32, 48}, kMostLoads = 62, kMostOfLines = 32;
/// Loads of a thread in a mix of both sources: ptxas does not keep more next to each other.
constexpr int kMixedLoads[] = {8, 12, 16};
/// Warps of the sweep.
constexpr int kWarps[] = {1, 2, 4, 8, 16, 24, 32};
/// Loads of one warp in a launch, and the fewest iterations.
constexpr int kLoadsOfLaunch = 512, kQuickLoads = 64, kFewestIterations = 4;
/// An array of `kPart` of the last cache stays resident; of one `kTimesCache` times as large nothing is resident.
constexpr double kPart = 0.125;
constexpr std::int64_t kTimesCache = 8;
constexpr std::int64_t kSmallestArray = std::int64_t{1} << 20, kLargestArray = std::int64_t{1} << 30;

class AccessPatterns {
public:
    explicit AccessPatterns(Context& context) : context_(context), cache_(largest_cache(context)) {}

    Outcome run() {
        const auto near = std::max(
            kSmallestArray / 4,
            static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(kPart * static_cast<double>(cache_)))));
        const auto memory = context_.device.attribute(device::Attribute::total_memory_bytes).value_or(kLargestArray);
        const auto far = std::min(
            std::clamp(static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(kTimesCache * cache_))),
                       kSmallestArray, kLargestArray),
            static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(memory / 8))));
        // The last loads of an iteration and random places may lie beyond the area.
        const auto slack = [](std::int64_t bytes) { return bytes / 2 + kMostLoads * 32 * kPatternLine; };
        const device::Buffer cached(context_.device, Bytes{near + slack(near)}),
            uncached(context_.device, Bytes{far + slack(far)});
        cached_ = {cached.address(), near, false, 0};
        uncached_ = {uncached.address(), far, true, 0};
        double done = 0;
        for (const LoadPattern& pattern : kLoadPatterns) {
            if (context_.quick && pattern.lines != 1 && pattern.lines != kWarp) continue;
            context_.progress(done++ / std::size(kLoadPatterns), pattern.name);
            try {
                measure(pattern);
            } catch (const CodeMismatch& mismatch) {
                add_mismatch(mismatch, outcome_);
            }
        }
        outcome_.traces.push_back(rates_trace(rates_));
        return std::move(outcome_);
    }

private:
    AccessLoop& accesses(const LoadPattern& pattern, int count, const AccessArea& area) {
        // The two areas differ only in their random places.
        const bool cached = &area == &cached_;
        auto& kept = kept_[{pattern.name, count, cached}];
        if (!kept) {
            kept = std::make_unique<AccessLoop>(
                context_.device, AccessForm{AccessKind::load, count, kWord, pattern.span},
                [&](int lane) { return offset_of(pattern, lane, area.bytes / 2, context_.seed); });
            if (cached) add_code_checks(kept->compiled(), outcome_);
        }
        return *kept;
    }

    /// Loads of whole warps per cycle.
    std::optional<double> rate_of(const LoadPattern& pattern, int count, AccessShape warps, AccessArea& area) {
        const auto cycles =
            accesses(pattern, count, area)
                .cycles_per_iteration(warps,
                                      std::max(kFewestIterations, (context_.quick ? kQuickLoads : kLoadsOfLaunch) /
                                                                      count / std::max(1, pattern.lines / 4)),
                                      kRuns, area);
        if (!cycles) return std::nullopt;
        return warps.warps * count / *cycles;
    }

    void fill(const LoadPattern& pattern) {
        if (cache_ == 0) return;
        auto& all = accesses(pattern, 8, cached_);
        const AccessShape warps{1, 8, 1};
        (void)all.cycles(
            warps, static_cast<int>(std::max<std::int64_t>(1, cached_.bytes / (std::int64_t{8} * 8 * pattern.span))),
            cached_);
    }

    PatternCurve curve_of(const LoadPattern& pattern, AccessArea& area) {
        PatternCurve curve;
        const double lone = 1 / rate_of(pattern, 1, {1, 1, 1}, area).value_or(1e-9);
        const double iteration =
            accesses(pattern, 0, area).cycles_per_iteration({1, 1, 1}, kLoadsOfLaunch, kRuns, area).value_or(0);
        curve.latency = lone - iteration;
        results::Trace trace{
            .name = fmt::format("access_patterns/{}_{}", pattern.name, &area == &cached_ ? "cached" : "memory"),
            .experiment = "access_patterns"};
        trace.columns = {{"loads", "count", {}},
                         {"warps", "count", {}},
                         {"in_flight", "loads", {}},
                         {"rate", "loads/cycle", {}},
                         {"little", "loads/cycle", {}}};
        trace.plot = {.title = fmt::format("Loads of warps per cycle of one SM, {} from {}", pattern.name,
                                           &area == &cached_ ? "the last cache" : "memory"),
                      .x = "in_flight",
                      .y = {"rate", "little"}};
        for (const int loads : kLoads) {
            if (loads > kMostOfLines && pattern.lines > 1) break;
            for (const int warps : kWarps) {
                const auto rate = rate_of(pattern, loads, {1, warps, 1}, area);
                if (!rate) break;
                curve.rate = std::max(curve.rate, *rate);
                trace.add_row(loads, warps, loads * warps, *rate, loads * warps / lone);
            }
        }
        outcome_.traces.push_back(std::move(trace));
        add_few(pattern, area, curve);
        return curve;
    }

    /// Measures the warps of one scheduler, and a single warp.
    void add_few(const LoadPattern& pattern, AccessArea& area, PatternCurve& curve) {
        results::Trace trace{.name = fmt::format("access_patterns/{}_{}_few_warps", pattern.name,
                                                 &area == &cached_ ? "cached" : "memory"),
                             .experiment = "access_patterns"};
        trace.columns = {{"warps", "count", {}}, {"loads", "count", {}}, {"rate", "loads/cycle", {}}};
        trace.plot = {
            .title = fmt::format("Loads per cycle of one warp, and of eight warps of one scheduler, {}", pattern.name),
            .x = "loads",
            .y = {"rate"},
            .split = "warps"};
        for (const auto& [warps, most] : {std::pair{1, kMostLoads}, std::pair{kMostWarps / kSchedulers, 32}})
            for (const int loads : {1, 2, 4, 8, 16, 24, 32, 48, 52, 56, 58, 60, kMostLoads}) {
                if (loads > most) continue;
                const auto rate = rate_of(pattern, loads, {1, warps, warps == 1 ? 1 : kSchedulers}, area);
                if (!rate) continue;
                double& best = warps == 1 ? curve.warp : curve.partition;
                if (*rate > best) (warps == 1 ? curve.warp_most : curve.partition_most) = warps * loads;
                best = std::max(best, *rate);
                trace.add_row(warps, loads, *rate);
            }
        outcome_.traces.push_back(std::move(trace));
    }

    void measure(const LoadPattern& pattern) {
        if (cache_ > 0) fill(pattern);
        const PatternCurve near = cache_ > 0 ? curve_of(pattern, cached_) : PatternCurve{};
        const PatternCurve far = curve_of(pattern, uncached_);
        report_pattern(pattern, near, far, mix_of(pattern, near, far), cache_ > 0, outcome_);
        rates_[pattern.name] = {near, far};
    }

    /// Measures loads that alternate between the cache and memory. Memory serves fewer loads than the cache, either
    /// because they take longer or because its rate is limited.
    SourceMix mix_of(const LoadPattern& pattern, const PatternCurve& near, const PatternCurve& far) {
        SourceMix mix;
        if (cache_ == 0 || far.rate > (1 - kSameRate) * near.rate) return mix;
        mix.by_rate = std::min(near.rate, 2 * far.rate);
        mix.by_entries = std::min(near.rate, 2 * far.in_flight() / (near.latency + far.latency));
        results::Trace trace{.name = fmt::format("access_patterns/{}_mixed", pattern.name),
                             .experiment = "access_patterns"};
        trace.columns = {
            {"loads", "count", {}}, {"warps", "count", {}}, {"in_flight", "loads", {}}, {"rate", "loads/cycle", {}}};
        trace.plot = {
            .title = fmt::format(
                "Loads of warps per cycle of one SM, {} alternately from the last cache and from memory", pattern.name),
            .x = "in_flight",
            .y = {"rate"}};
        try {
            for (const int loads : kMixedLoads) {
                AccessLoop mixed(context_.device, AccessForm{AccessKind::load, loads, kWord, pattern.span, true},
                                 [&](int lane) { return offset_of(pattern, lane, cached_.bytes / 2, context_.seed); });
                for (const int warps : {8, 16, 24, 32}) {
                    const auto cycles = mixed.cycles_per_iteration(
                        {1, warps, 1},
                        std::max(kFewestIterations, (context_.quick ? kQuickLoads : kLoadsOfLaunch) / loads), kRuns,
                        uncached_, &cached_);
                    if (!cycles) break;
                    const double rate = warps * loads / *cycles;
                    mix.rate = std::max(mix.rate, rate);
                    trace.add_row(loads, warps, loads * warps, rate);
                }
            }
        } catch (const CodeMismatch& mismatch) {
            add_mismatch(mismatch, outcome_);
        }
        outcome_.traces.push_back(std::move(trace));
        return mix;
    }

    Context& context_;
    Outcome outcome_;
    std::int64_t cache_;
    AccessArea cached_, uncached_;
    std::map<std::tuple<std::string_view, int, bool>, std::unique_ptr<AccessLoop>> kept_;
    PatternCurves rates_;
};

Outcome run(Context& context) {
    return watched(context, [](Context& c) { return AccessPatterns(c).run(); });
}

}  // namespace
}  // namespace access_patterns

Experiment access_patterns_experiment() {
    return {
        .id = "access_patterns",
        .title =
            "loads of different address patterns by one SM, from the last cache and from memory: what is full first",
        .source = "Lashgar 2015, 5; Little's law",
        .method = "outstanding-requests",
        .explanation =
            "Warps of one SM load from several patterns of addresses, out of the last cache and out of memory. "
            "A limit that gives the same rate at both latencies is a throughput. A limit whose rate falls as "
            "the latency grows is a number of entries, which is rate times latency.",
        .needs = {},
        .after = {"caches"},
        .provides = {"patterns.*.first_limit", "patterns.*.loads_per_cycle", "patterns.*.memory_loads_per_cycle",
                     "patterns.*.outstanding_loads", "patterns.*.outstanding_lines", "patterns.*.outstanding_sectors",
                     "patterns.*.partition_loads", "patterns.*.warp_loads"},
        .run = access_patterns::run,
        .part_of_scan = PartOfScan::on_request};
}

}  // namespace gputomo::experiments
