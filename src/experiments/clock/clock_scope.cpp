#include "experiments/clock/clock_scope.hpp"

#include "results/estimates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>

namespace gputomo::experiments {
namespace {

/// Cycles within which the blocks of one launch start. Registers that were not reset together differ by hundreds of
/// thousands.
constexpr std::int32_t kSimultaneous = 8192;
/// Most SMs of a TPC: the GT200 has 3, no GPU since then more than 2.
constexpr std::size_t kMostSmsPerTpc = 4;
/// Confidence of the estimates, a judgement and no measured frequency. No deduction reads it; reports show it.
constexpr double kSameClockConfidence = 0.95;
constexpr std::string_view kMethod = "clock: SMs whose blocks, started together, read nearly the same clock";

}  // namespace

std::vector<std::vector<std::uint32_t>> clock_groups(std::span<const BlockStart> starts) {
    if (starts.empty()) return {};
    std::vector<BlockStart> sorted(starts.begin(), starts.end());
    // Signed differences from one reading order the readings although the clock wraps around.
    const std::uint32_t origin = starts.front().clock;
    std::ranges::sort(sorted, {},
                      [&](const BlockStart& start) { return static_cast<std::int32_t>(start.clock - origin); });
    std::vector<std::set<std::uint32_t>> sets;
    for (std::size_t i = 0; i < sorted.size(); ++i) {
        if (i == 0 || static_cast<std::int32_t>(sorted[i].clock - sorted[i - 1].clock) > kSimultaneous)
            sets.emplace_back();
        sets.back().insert(sorted[i].sm);
    }
    std::vector<std::vector<std::uint32_t>> groups;
    for (const auto& set : sets) groups.emplace_back(set.begin(), set.end());
    return groups;
}

std::vector<results::Estimate> clock_scope_estimates(const std::vector<std::vector<std::uint32_t>>& groups) {
    if (groups.empty()) return {};
    const auto [smallest, largest] = std::ranges::minmax(groups, {}, &std::vector<std::uint32_t>::size);
    Evidence evidence{std::string(kMethod), kSameClockConfidence};
    evidence.note = fmt::format("{} groups of {} to {} SMs", groups.size(), smallest.size(), largest.size());
    if (groups.size() == 1) return {decided("clock.scope", std::string("gpu"), evidence)};
    // Two registers may happen to read nearly the same, but clusters of one SM do not exist beside larger ones.
    const auto alone = std::ranges::count(groups, std::size_t{1}, &std::vector<std::uint32_t>::size);
    if (2 * alone > std::ssize(groups)) return {decided("clock.scope", std::string("sm"), evidence)};
    // GPCs differ in size, because faulty SMs are disabled; a TPC has few SMs and always all of them.
    if (largest.size() > kMostSmsPerTpc) {
        std::vector<results::Estimate> estimates{decided("clock.scope", std::string("gpc"), evidence)};
        // Two registers that happen to read the same would merge two clusters.
        if (largest.size() < 2 * smallest.size())
            estimates.push_back(decided("topology.sms_per_gpc", static_cast<std::int64_t>(largest.size()), evidence));
        return estimates;
    }
    if (smallest.size() != largest.size())
        return {undecided("clock.scope", {std::string("tpc"), std::string("gpc")}, evidence)};
    return {decided("clock.scope", std::string("tpc"), evidence),
            decided("topology.sms_per_tpc", static_cast<std::int64_t>(largest.size()), evidence)};
}

}  // namespace gputomo::experiments
