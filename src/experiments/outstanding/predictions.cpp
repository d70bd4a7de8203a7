#include "experiments/outstanding/predictions.hpp"

#include "deduce/in_flight/outstanding_steps.hpp"
#include "units/warp.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

namespace gputomo::experiments::outstanding {
namespace {

using deduce::OutstandingFit;
using deduce::OutstandingUnit;

/// Points that are measured on either side of a predicted step, and numbers of loads of a thread that each pattern is
/// tried with. More points and loads cost time; with fewer, chance decides more often.
constexpr int kStepsAround = 5, kLoadsOfPattern = 4;
/// A step is where it was predicted if it lies within this share of the predicted number.
constexpr double kPredicted = 0.03;
/// Fewest points of a curve in which a step can be distinguished from its neighbours.
constexpr std::size_t kFewestPoints = 6;

/// Threads of launches around the one that fills the table.
struct Around {
    int full = 1;  ///< threads of the launch that fills it
    int step = 1;  ///< threads from one launch to the next
};

template <class Units>
Around around_full(const Prediction& prediction, const InFlightPattern& pattern, const Units& units) {
    Around around;
    while (around.full < kLargestBlock && units(around.full) < prediction.entries) ++around.full;
    const bool whole_warps = prediction.unit == OutstandingUnit::instructions || pattern.lanes < kWarpSize;
    around.step = whole_warps
                      ? kWarpSize
                      : pattern.share * std::max(1, static_cast<int>(kPredicted / 2 * around.full / pattern.share));
    if (whole_warps) around.full = around.full / kWarpSize * kWarpSize;
    return around;
}

/// Measures launches around the step that the table predicts for this pattern and counts whether the step is there.
void try_step(Setup& setup, Prediction& prediction, int loads, const InFlightPattern& pattern) {
    const auto units = [&](int threads) {
        return deduce::units_of({threads, loads, pattern.share, pattern.sectors, pattern.lanes}, prediction.unit);
    };
    const auto [full, step] = around_full(prediction, pattern, units);
    std::vector<double> counts, cycles;
    for (int i = -kStepsAround; i <= kStepsAround; ++i) {
        const int threads = full + i * step;
        if (threads < 1 || threads > kLargestBlock) continue;
        const auto point = setup.cached.measure({.count = loads}, pattern, threads);
        if (!point) break;
        counts.push_back(units(threads));
        cycles.push_back(point->complete);
    }
    if (counts.size() < kFewestPoints || counts.back() < prediction.entries * (1 + kPredicted)) return;
    ++prediction.tried;
    const auto found = deduce::first_step(counts, cycles);
    if (!found || prediction.entries < (1 - kPredicted) * found->last_before ||
        prediction.entries >= (1 + kPredicted) * found->first_after)
        return;
    ++prediction.right;
    const int least = std::max(prediction.least, static_cast<int>(found->last_before)),
              most = std::min(prediction.most, static_cast<int>(found->first_after) - 1);
    if (least <= most) prediction.least = least, prediction.most = most;
}

/// Tries patterns in which a table that counts another unit would be full elsewhere.
Prediction predict(Setup& setup, OutstandingUnit unit, int entries) {
    const InFlightPattern of_lines[] = {{.share = 1}, {.share = 2}, {.share = 4}, {.share = 4, .sectors = 4}};
    const InFlightPattern of_instructions[] = {
        {.share = kWarpSize}, {.share = kWarpSize, .lanes = 8}, {.share = 8}, {.share = 4, .sectors = 4}};
    /// Warps of the largest launch that can fill the table and still has larger ones beyond it.
    constexpr int kMostWarps = kLargestBlock / kWarpSize - 2;
    Prediction prediction{.unit = unit, .entries = entries};
    for (const auto& pattern : unit == OutstandingUnit::lines ? of_lines : of_instructions) {
        const int of_warp = deduce::units_of({kWarpSize, 1, pattern.share, pattern.sectors, pattern.lanes}, unit);
        const int most =
            std::min(setup.warp_loads > 0 ? setup.warp_loads : setup.most_loads / 2, std::max(1, entries / of_warp));
        const int least = std::max(1, entries / (of_warp * kMostWarps) + (entries > of_warp * kMostWarps ? 1 : 0));
        const int apart = std::max(1, (most - least) / (kLoadsOfPattern - 1));
        for (int loads = least, done = 0; loads <= most && done < kLoadsOfPattern; loads += apart, ++done)
            try_step(setup, prediction, loads, pattern);
    }
    return prediction;
}

}  // namespace

std::vector<Prediction> test_tables(Setup& setup, const std::vector<OutstandingFit>& fits) {
    std::vector<Prediction> best;
    const auto votes = deduce::step_votes(setup.points);
    for (const auto unit : {OutstandingUnit::lines, OutstandingUnit::instructions}) {
        const auto voted = std::ranges::find(votes, unit, &deduce::StepVotes::unit);
        const auto fit = std::ranges::find(fits, unit, [](const OutstandingFit& f) { return f.model.unit; });
        const int by_steps = (voted->least_entries + voted->most_entries) / 2, by_fit = fit->model.entries;
        auto prediction = predict(setup, unit, by_steps);
        if (std::abs(by_fit - by_steps) > kNearEntries * by_steps)
            prediction =
                std::ranges::max(std::vector{prediction, predict(setup, unit, by_fit)}, {}, &Prediction::share);
        best.push_back(prediction);
    }
    std::ranges::stable_sort(best, std::greater{}, &Prediction::share);
    return best;
}

}  // namespace gputomo::experiments::outstanding
