#include "deduce/in_flight/outstanding_fit.hpp"

#include "deduce/in_flight/outstanding_steps.hpp"
#include "deduce/series/change_point.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <future>
#include <limits>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

namespace gputomo::deduce {
namespace {

// The numbers below steer the search. They are chosen by hand as a compromise between its time and its accuracy, which
// the tests check on made-up surfaces.

/// Ratio of neighbouring table sizes in the coarse search. A larger ratio can step over the best size, which the fine
/// search covers only within 1.5 coarse steps.
constexpr double kCoarse = 1.05;
/// The smallest table of the coarse search.
constexpr int kFewestEntries = 4;
/// The fine search tries about this many sizes on either side of the best coarse one, or every size if they are fewer.
constexpr int kFineSteps = 20;
/// Points of each curve, both ends included, that the search for times evaluates.
constexpr std::size_t kThinned = 6;
/// The search for times leaves out launches of more lines than this if a curve has smaller ones: they take the most
/// computation and constrain the times least.
constexpr int kSmallLaunch = 512;
/// Step sizes of the search for a time, as shares of that time (of 4 cycles at least), tried from coarse to fine.
constexpr double kSteps[] = {0.3, 0.1, 0.03, 0.01};
/// Passes over all step sizes and times.
constexpr int kRounds = 2;
/// Most moves of one time in one direction with one step size.
constexpr int kMoves = 6;
/// Candidates that the coarse search passes on.
constexpr std::size_t kKept = 3;
/// Starting values of the latency, as shares of the fastest measurement; the rest of it starts as overhead.
constexpr double kLatencyShares[] = {0.6, 0.75, 0.9};
/// A warp's limit is believed only up to this share of the most loads tried. Above it, too few launches lie beyond the
/// limit to show a step.
constexpr double kMaxLimitShare = 0.85;
/// The interval of entries holds those whose error exceeds the smallest by at most this factor, or by at most
/// `kErrorTie` (a share of the latencies). Larger values widen the reported interval.
constexpr double kErrorRatio = 1.02;
constexpr double kErrorTie = 1e-4;

/// A residual counts at most as this share of its measurement. Every launch of many requests has a slow access now and
/// then, and such an outlier must not pull the fit.
constexpr double kResidualCap = 0.3;

using Times = double OutstandingModel::*;
constexpr Times kTimes[] = {
    &OutstandingModel::latency,     &OutstandingModel::overhead,    &OutstandingModel::spacing,
    &OutstandingModel::issue,       &OutstandingModel::gap,         &OutstandingModel::service,
    &OutstandingModel::use_latency, &OutstandingModel::warp_resume, &OutstandingModel::load_resume};

struct Weighted {
    OutstandingPoint point;
    double weight = 0;
};

using CurveKey = std::tuple<int, int, int, int>;
using Curves = std::map<CurveKey, std::vector<OutstandingPoint>>;

Curves points_by_curve(std::span<const OutstandingPoint> points) {
    Curves curves;
    for (const auto& point : points)
        curves[{point.launch.loads, point.launch.threads_per_line, point.launch.sectors_per_line,
                point.launch.active_lanes}]
            .push_back(point);
    return curves;
}

/// Picks up to `most` points of each curve. All curves have the same weight, so that a finely swept one does not
/// outvote the others.
std::vector<Weighted> weighted(const Curves& curves, std::size_t most) {
    std::vector<Weighted> all;
    for (const auto& [curve, points] : curves) {
        const auto large = std::find_if(points.begin(), points.end(), [&](const OutstandingPoint& p) {
            return units_of(p.launch, OutstandingUnit::lines) > kSmallLaunch;
        });
        const auto usable = most >= points.size()
                                ? points.size()
                                : static_cast<std::size_t>(std::max<std::ptrdiff_t>(2, large - points.begin()));
        const std::size_t count = std::min({most, usable, points.size()});
        for (std::size_t i = 0; i < count; ++i) {
            const auto& point = points[count == 1 ? 0 : i * (std::min(usable, points.size()) - 1) / (count - 1)];
            all.push_back({point, 1 / (point.cycles * static_cast<double>(count * curves.size()))});
        }
    }
    return all;
}

/// OutstandingFit::error of the model. Once the sum exceeds `enough`, the partial sum is returned.
double error_of(const OutstandingModel& model, const std::vector<Weighted>& points,
                double enough = std::numeric_limits<double>::infinity()) {
    double error = 0;
    for (const auto& [point, weight] : points) {
        error += weight * std::min(std::abs(model.predict(point.launch) - point.cycles), kResidualCap * point.cycles);
        if (error > enough) break;
    }
    return error;
}

/// Moves the same time from latency to overhead or back: unsaturated launches show only their sum.
void trade_latency_for_overhead(OutstandingFit& fit, double size, const std::vector<Weighted>& points) {
    for (const double direction : {size, -size}) {
        OutstandingModel tried = fit.model;
        tried.latency += direction;
        tried.overhead -= direction;
        if (tried.overhead < 0 || tried.latency < 0) continue;
        const double error = error_of(tried, points, fit.error);
        if (error < fit.error) fit = {tried, error, tried.entries, tried.entries};
    }
}

/// Moves one time as long as the error falls.
void search_time(OutstandingFit& fit, Times time, double step, const std::vector<Weighted>& points) {
    // The lower bound of four cycles lets times near 0 move too.
    const double size = step * std::max(fit.model.*time, 4.0);
    for (const double direction : {size, -size}) {
        for (int moves = 0; moves < kMoves; ++moves) {
            OutstandingModel tried = fit.model;
            tried.*time = std::max(0.0, tried.*time + direction);
            const double error = error_of(tried, points, fit.error);
            if (error >= fit.error) break;
            fit.model = tried;
            fit.error = error;
        }
    }
    trade_latency_for_overhead(fit, size, points);
}

/// Coordinate descent over the times of the model.
void search_times(OutstandingFit& fit, const std::vector<Weighted>& points) {
    fit.error = error_of(fit.model, points);
    for (int round = 0; round < kRounds; ++round)
        for (const double step : kSteps)
            for (const Times time : kTimes) search_time(fit, time, step, points);
}

class Fitter {
public:
    Fitter(std::span<const OutstandingPoint> points, int warp_loads)
        : curves_(points_by_curve(points)),
          all_(weighted(curves_, points.size())),
          thin_(weighted(curves_, kThinned)),
          warp_loads_(warp_loads) {
        for (const auto& point : points) {
            fastest_ = fastest_ == 0 ? point.cycles : std::min(fastest_, point.cycles);
            for (std::size_t unit = 0; unit < kUnits; ++unit)
                most_units_[unit] =
                    std::max(most_units_[unit], units_of(point.launch, static_cast<OutstandingUnit>(unit)));
        }
    }

    /// The best model whose table counts `unit`. `hint`: a number of entries to start from as well; 0 for none.
    OutstandingFit fit(OutstandingUnit unit, int hint) const {
        std::vector<OutstandingFit> candidates;
        for (const double share : kLatencyShares) {
            OutstandingModel start{.unit = unit,
                                   .warp_loads = warp_loads_,
                                   .overhead = (1 - share) * fastest_,
                                   .latency = share * fastest_};
            for (const int entries : coarse_entries(unit)) {
                start.entries = entries;
                candidates.push_back({start, error_of(start, thin_), entries, entries});
            }
        }
        keep_best(candidates);
        if (hint > 0) {
            for (const double share : kLatencyShares)
                candidates.push_back({{.unit = unit,
                                       .entries = hint,
                                       .warp_loads = warp_loads_,
                                       .overhead = (1 - share) * fastest_,
                                       .latency = share * fastest_},
                                      0,
                                      hint,
                                      hint});
        }
        for (auto& candidate : candidates) search_times(candidate, thin_);
        keep_best(candidates);
        // Better times may call for other entries, and those for other times again: two rounds of both.
        for (int round = 0; round < 2 && unit != OutstandingUnit::none; ++round) {
            candidates.resize(1);
            candidates.front() = best_entries(candidates.front().model, coarse_entries(unit), thin_);
            search_times(candidates.front(), thin_);
        }
        candidates.front().error = error_of(candidates.front().model, all_);
        return candidates.front();
    }

    /// Repeats a fit from the times of another model, and returns the better of the two.
    [[nodiscard]] OutstandingFit restart_from(const OutstandingFit& fit, const OutstandingModel& times,
                                              int hint) const {
        OutstandingFit best = fit;
        for (const int entries : {fit.model.entries, hint}) {
            OutstandingModel start = times;
            start.unit = fit.model.unit;
            start.entries = start.unit == OutstandingUnit::none ? 0 : entries;
            OutstandingFit tried{start, 0, start.entries, start.entries};
            search_times(tried, thin_);
            tried.error = error_of(tried.model, all_);
            if (tried.error < best.error) best = tried;
        }
        return best;
    }

    /// Tries the sizes near the fitted one on all points. Those with nearly the smallest error form the interval.
    [[nodiscard]] OutstandingFit refine_entries(OutstandingModel model) const {
        if (model.unit == OutstandingUnit::none) return {model, error_of(model, all_), 0, 0};
        const int span = std::max(2, static_cast<int>(model.entries * (kCoarse - 1) * 1.5));
        const int step = std::max(1, span / kFineSteps);
        std::vector<std::pair<int, double>> errors;
        const int last = model.entries + span;
        for (int entries = std::max(1, model.entries - span); entries <= last; entries += step) {
            model.entries = entries;
            errors.emplace_back(entries, error_of(model, all_));
        }
        const auto best = std::min_element(errors.begin(), errors.end(),
                                           [](const auto& a, const auto& b) { return a.second < b.second; });
        model.entries = best->first;
        OutstandingFit fit{model, best->second, best->first, best->first};
        for (const auto& [entries, error] : errors) {
            if (error > kErrorRatio * best->second && error > best->second + kErrorTie) continue;
            fit.least_entries = std::min(fit.least_entries, entries);
            fit.most_entries = std::max(fit.most_entries, entries);
        }
        return fit;
    }

private:
    static constexpr std::size_t kUnits = 5;  ///< values of OutstandingUnit

    [[nodiscard]] std::vector<int> coarse_entries(OutstandingUnit unit) const {
        if (unit == OutstandingUnit::none) return {0};
        std::vector<int> entries;
        for (double value = kFewestEntries; value < most_units_[static_cast<std::size_t>(unit)];
             value = std::max(value + 1, value * kCoarse))
            entries.push_back(static_cast<int>(value));
        if (entries.empty()) entries.push_back(kFewestEntries);
        return entries;
    }

    static void keep_best(std::vector<OutstandingFit>& candidates) {
        std::sort(candidates.begin(), candidates.end(), [](const auto& a, const auto& b) { return a.error < b.error; });
        candidates.resize(std::min(candidates.size(), kKept));
    }

    static OutstandingFit best_entries(OutstandingModel model, const std::vector<int>& entries,
                                       const std::vector<Weighted>& points) {
        OutstandingFit best{model, error_of(model, points), model.entries, model.entries};
        for (const int tried : entries) {
            model.entries = tried;
            const double error = error_of(model, points, best.error);
            if (error < best.error) best = {model, error, tried, tried};
        }
        return best;
    }

    Curves curves_;
    std::vector<Weighted> all_;
    std::vector<Weighted> thin_;
    int warp_loads_;
    double fastest_ = 0;
    int most_units_[kUnits] = {};
};

}  // namespace

/// A warp with a limit issues its loads in groups of that size, and each group waits for the one before. The time
/// against the number of loads is then a staircase whose stairs are as wide as the limit.
WarpLoadsFit fit_warp_loads(std::span<const OutstandingPoint> points) {
    std::vector<double> all, loads, cycles;
    for (const auto& point : points) all.push_back(point.cycles);
    for (const auto i : without_outliers(all)) {
        loads.push_back(points[i].launch.loads);
        cycles.push_back(all[i]);
    }
    const auto stairs = best_stairs(loads, cycles);
    WarpLoadsFit fit{.most = static_cast<int>(points.size())};
    if (!stairs) return fit;
    const double mean = std::accumulate(cycles.begin(), cycles.end(), 0.0) / static_cast<double>(cycles.size());
    fit.error = stairs->error / mean;
    fit.error_without = stairs->error_of_line / mean;
    if (stairs->significant && stairs->width <= kMaxLimitShare * fit.most) fit.limit = stairs->width;
    return fit;
}

namespace {
int middle(const StepVotes& votes) { return (votes.least_entries + votes.most_entries) / 2; }

/// Runs the fits on threads of their own. One after the other they would take seconds of a scan in which the GPU idles.
template <class Fit>
std::vector<OutstandingFit> fit_in_parallel(std::size_t count, const Fit& fit) {
    std::vector<std::future<OutstandingFit>> running;
    for (std::size_t i = 0; i < count; ++i) running.push_back(std::async(std::launch::async, fit, i));
    std::vector<OutstandingFit> fits;
    for (auto& one : running) fits.push_back(one.get());
    return fits;
}
}  // namespace

std::vector<OutstandingFit> fit_outstanding(std::span<const OutstandingPoint> all, int warp_loads) {
    const auto points = without_outliers(all);
    const Fitter fitter(points, warp_loads);
    struct Start {
        OutstandingUnit unit = OutstandingUnit::none;
        int hint = 0;
    };
    std::vector<Start> starts(1);
    for (const auto& one : step_votes(points)) starts.push_back({one.unit, middle(one)});
    auto fits =
        fit_in_parallel(starts.size(), [&](std::size_t i) { return fitter.fit(starts[i].unit, starts[i].hint); });
    // The times of the best model may suit the others, whose search may have ended in a local minimum.
    const auto times = std::ranges::min_element(fits, {}, &OutstandingFit::error)->model;
    fits = fit_in_parallel(starts.size(),
                           [&](std::size_t i) { return fitter.restart_from(fits[i], times, starts[i].hint); });
    const auto sort = [&] {
        std::stable_sort(fits.begin(), fits.end(), [](const auto& a, const auto& b) { return a.error < b.error; });
    };
    sort();
    // The two best models decide, so only they are refined over all points and neighbouring sizes.
    std::ranges::copy(fit_in_parallel(2, [&](std::size_t i) { return fitter.refine_entries(fits[i].model); }),
                      fits.begin());
    sort();
    return fits;
}

}  // namespace gputomo::deduce
