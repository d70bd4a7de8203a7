#include "deduce/in_flight/outstanding_steps.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <tuple>

namespace gputomo::deduce {
namespace {

/// A launch is an outlier if a larger one is faster by more than this share. A smaller value drops launches for mere
/// jitter, a larger one lets a slow access pass as a step. Chosen by hand.
constexpr double kOutlier = 0.03;
/// A step rises by at least `kUsualRises` times the curve's median rise, by `kShareOfFirst` of its first value, and by
/// `kShareOfLargest` of its largest rise. Chosen by hand: smaller values take jitter for a step, larger ones miss the
/// low first step of a curve whose later steps are higher.
constexpr double kUsualRises = 2.5, kShareOfFirst = 0.06, kShareOfLargest = 0.5;
/// A curve with fewer points is ignored: the median of its rises would say too little about what is usual.
constexpr std::size_t kFewest = 6;
/// The last point of a curve is an outlier if it takes more than this many times its predecessor. Neighbouring points
/// lie close together, so even a table that fills between them adds less.
constexpr double kLastOutlier = 1.6;
/// A curve without a step contradicts a table that it would overfill by more than this factor. Nearer to 1, a step that
/// lies just at a curve's end, and does not show yet, would count against the right table.
constexpr double kFarBeyond = 1.25;

using Curve = std::vector<OutstandingPoint>;

/// The points of each curve in ascending order of threads. Its key: loads, threads and sectors per line, active lanes.
std::map<std::tuple<int, int, int, int>, Curve> curves_of(std::span<const OutstandingPoint> points) {
    std::map<std::tuple<int, int, int, int>, Curve> curves;
    for (const auto& point : points)
        curves[{point.launch.loads, point.launch.threads_per_line, point.launch.sectors_per_line,
                point.launch.active_lanes}]
            .push_back(point);
    for (auto& [key, curve] : curves)
        std::ranges::stable_sort(curve, {}, [](const OutstandingPoint& p) { return p.launch.threads; });
    return curves;
}

std::vector<double> cycles_of(const Curve& curve) {
    std::vector<double> cycles;
    for (const auto& point : curve) cycles.push_back(point.cycles);
    return cycles;
}

/// Indices of the values before and after the first step; nullopt if there is none.
std::optional<std::array<std::size_t, 2>> first_rise(std::span<const double> cycles) {
    const auto kept = without_outliers(cycles);
    if (kept.size() < kFewest) return std::nullopt;
    std::vector<double> rises;
    for (std::size_t i = 1; i < kept.size(); ++i) rises.push_back(cycles[kept[i]] - cycles[kept[i - 1]]);
    auto sorted = rises;
    std::ranges::sort(sorted);
    const double first = cycles[kept.front()], usual = std::max(0.0, sorted[sorted.size() / 2]),
                 largest = sorted.back();
    const double least = std::max(kUsualRises * usual, kShareOfFirst * first);
    if (largest < least) return std::nullopt;
    const auto rise =
        std::ranges::find_if(rises, [&](double r) { return r >= std::max(least, kShareOfLargest * largest); }) -
        rises.begin();
    const auto before = static_cast<std::size_t>(rise);
    return std::array{kept[before], kept[before + 1]};
}

/// The table sizes, in one unit, that explain a curve's first step.
struct Bounds {
    int least = 1;
    int most = std::numeric_limits<int>::max();
};

StepVotes best_of(OutstandingUnit unit, const std::vector<Bounds>& bounds, const std::vector<int>& reached) {
    StepVotes best{.unit = unit};
    for (const auto& [start, end] : bounds) {
        StepVotes votes{.unit = unit, .least_entries = start, .most_entries = end};
        for (const auto& [least, most] : bounds) {
            if (least > start || most < start) continue;
            ++votes.explained;
            votes.most_entries = std::min(votes.most_entries, most);
        }
        votes.contradicted = static_cast<int>(bounds.size()) - votes.explained;
        for (const int most : reached) votes.contradicted += most > kFarBeyond * votes.most_entries ? 1 : 0;
        const auto worth = [](const StepVotes& v) { return v.explained - v.contradicted; };
        if (best.explained == 0 || worth(votes) > worth(best)) best = votes;
    }
    return best;
}

}  // namespace

std::vector<std::size_t> without_outliers(std::span<const double> cycles) {
    std::vector<std::size_t> kept;
    double later = std::numeric_limits<double>::infinity();
    for (std::size_t i = cycles.size(); i-- > 0;) {
        if (cycles[i] <= (1 + kOutlier) * later) kept.push_back(i);
        later = std::min(later, cycles[i]);
    }
    std::ranges::reverse(kept);
    // The last launch has no larger one to compare it with, so it is compared with its predecessor.
    while (kept.size() >= kFewest && cycles[kept.back()] > kLastOutlier * cycles[kept[kept.size() - 2]])
        kept.pop_back();
    return kept;
}

std::vector<OutstandingPoint> without_outliers(std::span<const OutstandingPoint> points) {
    std::vector<OutstandingPoint> kept;
    for (const auto& [key, curve] : curves_of(points))
        for (const auto i : without_outliers(cycles_of(curve))) kept.push_back(curve[i]);
    return kept;
}

std::optional<Step> first_step(std::span<const double> x, std::span<const double> cycles) {
    const auto rise = first_rise(cycles);
    if (!rise) return std::nullopt;
    return Step{x[(*rise)[0]], x[(*rise)[1]], cycles[(*rise)[1]] - cycles[(*rise)[0]], true};
}

std::vector<StepVotes> step_votes(std::span<const OutstandingPoint> points) {
    const OutstandingUnit units[] = {OutstandingUnit::threads, OutstandingUnit::sectors, OutstandingUnit::lines,
                                     OutstandingUnit::instructions};
    std::map<OutstandingUnit, std::vector<Bounds>> bounds;
    std::map<OutstandingUnit, std::vector<int>> reached;
    for (const auto& [key, curve] : curves_of(points)) {
        if (curve.size() < kFewest) continue;
        const auto step = first_rise(cycles_of(curve));
        for (const auto unit : units) {
            if (!step)
                reached[unit].push_back(units_of(curve.back().launch, unit));
            else
                bounds[unit].push_back({std::max(1, units_of(curve[(*step)[0]].launch, unit)),
                                        units_of(curve[(*step)[1]].launch, unit) - 1});
        }
    }
    std::vector<StepVotes> votes;
    for (const auto unit : units) votes.push_back(best_of(unit, bounds[unit], reached[unit]));
    std::ranges::stable_sort(votes, std::greater{}, [](const StepVotes& v) { return v.explained - v.contradicted; });
    return votes;
}

}  // namespace gputomo::deduce
