// Which blocks of an SM a scheduler prefers: those that began first, or none.
#include "experiments/experiments.hpp"

#include "experiments/clock/clock_watch.hpp"
#include "experiments/code_checks.hpp"
#include "measure/kernel/device_facts.hpp"
#include "measure/mix/fixed_work_mix.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

namespace gputomo::experiments {
namespace block_priority {
namespace {

/// Instructions of an iteration, besides three of the loop's control.
constexpr int kLoopLength = 60;
/// Cycles that a warp alone takes, at first. Its work grows until the blocks of an SM start within a small share of the
/// time, or often enough.
constexpr double kCycles = 1'500;
constexpr double kStarts = 0.1;
constexpr std::uint32_t kGrowth = 3;
constexpr int kTries = 3;
/// Blocks of an SM: fewer may not keep its units busy, and more take longer.
constexpr int kFewestBlocks = 4, kMostBlocks = 16;
/// Blocks have to take at least this many times as long as one alone. Otherwise they do not compete.
constexpr double kCompete = 1.5;
/// Blocks relative to those that SMs hold at once. Later ones take the places of earlier ones.
constexpr int kRounds = 2;
/// Blocks began one after the other if their starts are apart by more than this share of the time.
constexpr double kApart = 0.05;
/// The first block to end takes less than this share of the time if it was preferred, and more than that if none was.
constexpr double kPreferred = 0.6, kInTurn = 0.85;
/// Most pairs of blocks, as a share, of which the one that began later ends first although the other was preferred.
constexpr double kMostOvertaken = 0.2;
constexpr double kConfidence = 0.97;

using Warps = std::map<std::uint32_t, std::vector<WarpTimes>>;  // by SM

/// How the warps that an SM held at first went on. Means over SMs.
struct FirstWarps {
    double starts = 0;     ///< share of the time in which they started
    double first_end = 0;  ///< share of the time after which the first of them ended
    double cycles = 0;     ///< until the last of them ended
};

FirstWarps first_warps(const Warps& sms) {
    FirstWarps mean;
    for (const auto& [sm, warps] : sms) {
        const double first_end = std::ranges::min(warps, {}, &WarpTimes::end).end;
        double start = 0, end = 0;
        for (const auto& warp : warps) {
            if (warp.start >= first_end) continue;  // there was no room for it before
            start = std::max(start, warp.start);
            end = std::max(end, warp.end);
        }
        mean.starts += start / end;
        mean.first_end += first_end / end;
        mean.cycles += end;
    }
    const auto count = static_cast<double>(sms.size());
    return {mean.starts / count, mean.first_end / count, mean.cycles / count};
}

/// The share of pairs of warps in which the later one ended first. Both ran at the same time, but began apart.
double overtaken(const Warps& sms) {
    double pairs = 0, overtaken = 0;
    for (const auto& [sm, warps] : sms) {
        const double apart = kApart * std::ranges::max(warps, {}, &WarpTimes::end).end;
        for (const auto& earlier : warps)
            for (const auto& later : warps) {
                if (later.start < earlier.start + apart || later.start > earlier.end) continue;
                pairs += 1;
                overtaken += later.end < earlier.end ? 1 : 0;
            }
    }
    return pairs > 0 ? overtaken / pairs : 0;
}

Outcome measure(Context& context) {
    Outcome outcome;
    LinkedArray none(context.device, 1, 1);
    FixedWorkMix mix(context.device, {.access = MixAccess::sfu, .alpha = 0, .loop_length = kLoopLength}, none);
    add_code_checks(mix.compiled(), outcome);
    const int warps = static_cast<int>(context.findings.number("issue.schedulers_per_sm").value_or(1));
    const auto most_blocks =
        static_cast<int>(context.device.attribute(device::Attribute::max_blocks_per_multiprocessor).value_or(8));
    const int blocks = std::min({kMostBlocks, most_blocks, max_warps_of(context.device) / warps});
    if (blocks < kFewestBlocks) return outcome;
    std::uint32_t growth = 1;
    const std::uint32_t iterations = mix.iterations_for(kCycles);
    const auto run = [&](int rounds) { return times_by_sm(mix.run({{blocks, warps}, rounds, iterations * growth})); };
    Warps together = run(1);
    FirstWarps of_first = first_warps(together);
    for (int tries = 1; tries < kTries && of_first.starts > kStarts; ++tries) {
        growth *= kGrowth;
        of_first = first_warps(together = run(1));
    }
    if (of_first.cycles < kCompete * kCycles * growth) return outcome;
    const Warps later = run(kRounds);
    const double first = of_first.first_end, share = overtaken(later);

    results::Trace trace{.name = "block_priority/special_functions", .experiment = "block_priority"};
    trace.columns = {{"rounds", "count", {}}, {"sm", "", {}}, {"start", "cycles", {}}, {"end", "cycles", {}}};
    for (const auto& [rounds, records] : {std::pair<int, const Warps*>(1, &together), {kRounds, &later}}) {
        const auto& [sm, of_sm] = *records->begin();
        for (const auto& warp : of_sm) trace.add_row(rounds, static_cast<double>(sm), warp.start, warp.end);
    }
    outcome.traces.push_back(std::move(trace));

    const Evidence evidence{
        fmt::format("block_priority: {} blocks of {} warps of special functions on each SM; the first ends after "
                    "{:.0f}% of the time, and of {} times as many {:.0f}% overtake one that began before",
                    blocks, warps, 100 * first, kRounds, 100 * share),
        kConfidence};
    if (first < kPreferred && share < kMostOvertaken)
        outcome.estimates.push_back(decided("issue.block_priority", std::string("oldest"), evidence));
    else if (first > kInTurn)
        outcome.estimates.push_back(decided("issue.block_priority", std::string("none"), evidence));
    else
        outcome.estimates.push_back(
            undecided("issue.block_priority", {std::string("oldest"), std::string("none")}, evidence));
    return outcome;
}

Outcome run(Context& context) { return watched(context, measure); }

}  // namespace
}  // namespace block_priority

Experiment block_priority_experiment() {
    return {.id = "block_priority",
            .title = "whether schedulers issue for the oldest of their blocks first",
            .source = "Volkov 2016, 5.9",
            .method = "occupancy-and-models",
            .explanation =
                "As many blocks as an SM holds do the same work, with one warp on each scheduler. If schedulers take "
                "warps in turn, all blocks end together. If they prefer the blocks that began first, these end first, "
                "also before blocks that have taken the places of others.",
            .needs = {},
            .after = {"clock", "issue"},
            .provides = {"issue.block_priority"},
            .run = block_priority::run,
            .part_of_scan = PartOfScan::with_full_budget};
}

}  // namespace gputomo::experiments
