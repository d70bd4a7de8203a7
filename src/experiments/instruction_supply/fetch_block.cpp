// How much code a warp fetches from the first instruction cache at once.
#include "experiments/experiments.hpp"

#include "deduce/pipeline/fetch_blocks.hpp"
#include "experiments/clock/clock_watch.hpp"
#include "measure/code_fetch/fetch_steps.hpp"
#include "results/estimates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace gputomo::experiments {
namespace fetch_block {
namespace {

constexpr auto kLeaf = "instruction_supply.fetch_block";
/// Running this many times the first cache's capacity evicts its code under any policy. The second constant is the
/// bytes of code if the capacity is unknown, the third the most.
constexpr std::uint64_t kCapacities = 2, kUnknownSweep = 24 * 1024, kMostSweep = 96 * 1024;
/// Lengths of the steps. With a single one, block sizes that share a factor with it may look the same.
constexpr int kFillings[] = {1, 2, 3};
/// Share of the steps that a block size may leave unexplained: outliers that medians of three launches keep.
constexpr double kMostWrong = 0.03;
constexpr auto kMethod =
    "fetch_block: clock reads after each of 64 barriers, between which other warps run more code than the first cache "
    "holds";

std::uint64_t sweep_bytes(const Findings& findings) {
    const auto known = findings.number("caches.instruction_l1.capacity");
    return known ? std::min(kMostSweep, kCapacities * static_cast<std::uint64_t>(*known)) : kUnknownSweep;
}

/// The steps that wait for their code. Steps that do not wait take equally long, except for a few cycles in which other
/// warps issue. Steps that wait take as long as the level that holds their code. The border lies where the ratio of
/// neighbouring times above the fastest is largest.
std::vector<deduce::FetchSample> places_of(const std::vector<FetchStep>& steps, double least) {
    std::vector<double> sorted;
    for (const auto& step : steps) sorted.push_back(step.cycles);
    std::ranges::sort(sorted);
    const double fastest = sorted.front();
    double widest = 0, waits_from = std::numeric_limits<double>::max();
    for (std::size_t i = 1; i < sorted.size(); ++i) {
        const double ratio = (sorted[i] - fastest + 1) / (sorted[i - 1] - fastest + 1);
        if (sorted[i] - fastest <= least || ratio <= widest) continue;
        widest = ratio;
        waits_from = sorted[i];
    }
    std::vector<deduce::FetchSample> places;
    for (const auto& step : steps) places.push_back({step.offset, step.cycles >= waits_from});
    return places;
}

results::Trace trace_of(const std::vector<FetchStep>& steps, int filling, std::uint64_t sweep) {
    results::Trace trace{.name = fmt::format("fetch_block/steps_{}_behind_{}_bytes", filling, sweep),
                         .experiment = "fetch_block"};
    trace.columns = {{"offset", "bytes", {}}, {"cycles", "cycles", {}}};
    for (const auto& step : steps) trace.add_row(step.offset - steps.front().offset, step.cycles);
    trace.plot = {.title = "Cycles between two clock reads, by the place of the later one in the code",
                  .x = "offset",
                  .y = {"cycles"}};
    return trace;
}

results::Estimate estimate_of(const deduce::FetchBlocks& found, std::size_t places) {
    const auto wrong = static_cast<double>(places - found.explained) / static_cast<double>(places);
    const Evidence evidence{kMethod, static_cast<double>(found.explained + 1) / static_cast<double>(places + 2),
                            fmt::format("this size explains {} of {} steps, the next best size {}", found.explained,
                                        places, found.runner_up)};
    if (found.sizes.size() == 1 && wrong <= kMostWrong)
        return decided(kLeaf, static_cast<std::int64_t>(found.sizes.front()), evidence);
    std::vector<results::Value> candidates;
    if (wrong <= kMostWrong)
        for (const auto size : found.sizes) candidates.emplace_back(static_cast<std::int64_t>(size));
    return undecided(kLeaf, std::move(candidates), evidence);
}

struct Waits {
    std::vector<std::vector<deduce::FetchSample>> kernels;
    std::size_t places = 0;
};

/// The waits of steps of all lengths, with `sweep` bytes of code run between them. It stops at a length whose steps do
/// not wait.
Waits waits_after_barrier(Context& context, std::uint64_t sweep, Outcome& outcome) {
    const double least = least_level_step(context.findings);
    Waits waits;
    for (const int filling : kFillings) {
        context.progress(static_cast<double>(filling - 1) / std::size(kFillings),
                         fmt::format("steps with {} further instructions", filling));
        FetchSteps kernel(context.device, {filling, sweep});
        add_code_checks(kernel.compiled(), outcome);
        const auto steps = kernel.run();
        if (steps.empty()) continue;
        outcome.traces.push_back(trace_of(steps, filling, sweep));
        waits.kernels.push_back(places_of(steps, least));
        waits.places += steps.size();
        if (std::ranges::none_of(waits.kernels.back(), &deduce::FetchSample::waited)) break;
    }
    return waits;
}

Outcome measure(Context& context) {
    Outcome outcome;
    // Code evicted from the first cache may stay in a cache so near that prefetching hides the wait; then more code is
    // run.
    for (const std::uint64_t sweep : {sweep_bytes(context.findings), kMostSweep}) {
        const auto waits = waits_after_barrier(context, sweep, outcome);
        const auto found = deduce::fetch_blocks(waits.kernels, bytes_of_instruction(context.device));
        if (found.sizes.empty()) continue;
        outcome.estimates.push_back(estimate_of(found, waits.places));
        return outcome;
    }
    outcome.warnings.emplace_back(
        "fetch_block: the size of a fetch block is unknown, because steps that wait for their code do not lie at "
        "regular distances");
    return outcome;
}

Outcome run(Context& context) { return watched(context, measure); }

}  // namespace
}  // namespace fetch_block

Experiment fetch_block_experiment() {
    return {.id = "fetch_block",
            .title = "code that a warp gets from the first instruction cache at once",
            .source = "Wong 2010, IV-K4, Fig. 24",
            .method = "instruction-supply",
            .explanation =
                "One warp reads the clock twice after each of many barriers. Meanwhile another warp runs through "
                "enough code to evict the first one's from the nearest cache. Both reads of a pair are fast when "
                "they lie in the same fetch block, which the warp already has. Where a new block begins between "
                "them, the warp waits.",
            .needs = {},
            .after = {"clock", "instruction_caches"},
            .provides = {fetch_block::kLeaf},
            .run = fetch_block::run};
}

}  // namespace gputomo::experiments
