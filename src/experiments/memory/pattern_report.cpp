#include "experiments/memory/pattern_report.hpp"

#include "results/estimates.hpp"
#include "units/warp.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>

namespace gputomo::experiments {
namespace {

/// Confidence of the estimates, a judgement and no measured frequency. No deduction reads it; reports show it.
constexpr double kPatternConfidence = 0.9;

results::Estimate first_limit(const std::string& path, const PatternCurve& near, const PatternCurve& far,
                              const SourceMix& mix, const Evidence& evidence) {
    const auto leaf = path + "first_limit";
    if (std::abs(near.latency - far.latency) < 2 * kSameRate * far.latency) return undecided(leaf, {}, evidence);
    if (far.rate > (1 - kSameRate) * near.rate) return decided(leaf, std::string("rate"), evidence);
    if (std::abs(far.in_flight() - near.in_flight()) < kSameRate * far.in_flight())
        return decided(leaf, std::string("places"), evidence);
    // The mix decides if the cache, too, has a limit, which is not that of memory: with limited entries fewer loads
    // would complete.
    if (mix.by_entries < (1 - 2 * kSameRate) * mix.by_rate) {
        if (mix.rate > (1 - kSameRate) * mix.by_rate) return decided(leaf, std::string("rate"), evidence);
        if (mix.rate < (1 + kSameRate) * mix.by_entries) return decided(leaf, std::string("places"), evidence);
    }
    return undecided(leaf, {std::string("rate"), std::string("places")}, evidence);
}

}  // namespace

std::uint32_t offset_of(const LoadPattern& pattern, int lane, std::int64_t far, std::uint64_t seed) {
    if (std::string_view(pattern.name) == "random") {
        std::mt19937_64 draw(seed * kWarpSize + static_cast<std::uint64_t>(lane));
        return static_cast<std::uint32_t>(draw() % static_cast<std::uint64_t>(far / kPatternLine)) * kPatternLine;
    }
    // Lanes that share a line load its first word, or each its own part of it.
    return static_cast<std::uint32_t>(pattern.sectors == pattern.lines
                                          ? lane * pattern.lines / kWarpSize * kPatternLine
                                          : lane * pattern.lines * kPatternLine / kWarpSize);
}

void report_pattern(const LoadPattern& pattern, const PatternCurve& near, const PatternCurve& far, const SourceMix& mix,
                    bool has_cache, Outcome& outcome) {
    const std::string path = fmt::format("patterns.{}.", pattern.name);
    const Evidence evidence{
        "access_patterns: one SM, 1 to 32 warps with 1 to 32 loads each in flight, timed as the difference of 2n and n "
        "iterations",
        kPatternConfidence,
        fmt::format("Loads/cycle from the cache: {:.3g} at {:.0f} cycles ({:.0f} in flight). From memory: {:.3g} at "
                    "{:.0f} cycles "
                    "({:.0f} in flight). The warps of one scheduler alone: {:.3g} and {:.3g}. One warp alone: {:.3g} "
                    "and {:.3g}",
                    near.rate, near.latency, near.in_flight(), far.rate, far.latency, far.in_flight(), near.partition,
                    far.partition, near.warp, far.warp) +
            (mix.rate > 0
                 ? fmt::format(". Alternately from both: {:.3g}. A limit of memory's rate predicts {:.3g}, a limit "
                               "of loads in flight {:.3g}",
                               mix.rate, mix.by_rate, mix.by_entries)
                 : std::string())};
    const auto real = [&](const char* leaf, double value) {
        outcome.estimates.push_back(
            decided_real(path + leaf, {value, (1 - kSameRate / 5) * value, (1 + kSameRate / 5) * value}, evidence));
    };
    if (has_cache) real("loads_per_cycle", near.rate);
    real("memory_loads_per_cycle", far.rate);
    if (has_cache) outcome.estimates.push_back(first_limit(path, near, far, mix, evidence));
    // Little's law with the latency of an idle GPU gives a lower bound of the loads in flight.
    const double most = std::max(near.in_flight(), far.in_flight());
    const auto count = [&](const char* leaf, double value) {
        auto estimate = decided(path + leaf, static_cast<std::int64_t>(std::floor(value)), evidence);
        estimate.interval = {std::floor((1 - kSameRate / 2) * value), std::ceil((1 + kSameRate / 2) * value)};
        outcome.estimates.push_back(std::move(estimate));
    };
    count("outstanding_loads", most);
    count("outstanding_lines", most * pattern.lines);
    count("outstanding_sectors", most * pattern.sectors);
    count("partition_loads", std::max(near.partition * near.latency, far.partition * far.latency));
    count("warp_loads", std::max(near.warp * near.latency, far.warp * far.latency));
}

results::Trace rates_trace(const PatternCurves& rates) {
    results::Trace trace{.name = "access_patterns/rates", .experiment = "access_patterns"};
    trace.columns = {{"lines", "of a load", {}},
                     {"sectors", "of a load", {}},
                     {"cached", "loads/cycle", {}},
                     {"cached_lines", "lines/cycle", {}},
                     {"cached_sectors", "sectors/cycle", {}},
                     {"memory", "loads/cycle", {}},
                     {"memory_lines", "lines/cycle", {}},
                     {"memory_sectors", "sectors/cycle", {}},
                     {"cached_latency", "cycles", {}},
                     {"memory_latency", "cycles", {}},
                     {"cached_partition", "loads/cycle", {}},
                     {"memory_partition", "loads/cycle", {}},
                     {"cached_warp", "loads/cycle", {}},
                     {"memory_warp", "loads/cycle", {}}};
    for (const LoadPattern& pattern : kLoadPatterns) {
        const auto found = rates.find(pattern.name);
        if (found == rates.end()) continue;
        const auto& [near, far] = found->second;
        trace.add_row(pattern.lines, pattern.sectors, near.rate, near.rate * pattern.lines, near.rate * pattern.sectors,
                      far.rate, far.rate * pattern.lines, far.rate * pattern.sectors, near.latency, far.latency,
                      near.partition, far.partition, near.warp, far.warp);
    }
    return trace;
}

}  // namespace gputomo::experiments
