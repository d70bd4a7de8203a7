#include "experiments/outstanding/warp_limit.hpp"

#include "deduce/in_flight/outstanding_fit.hpp"
#include "experiments/outstanding/lower_bound.hpp"
#include "results/estimates.hpp"
#include "units/warp.hpp"

#include <fmt/format.h>

#include <limits>
#include <span>
#include <utility>

namespace gputomo::experiments::outstanding {
namespace {

using deduce::OutstandingPoint;
using deduce::OutstandingUnit;

/// If two warps together sustain less than this many times what one does, they share the limit. Two limits of their own
/// would give a factor of 2, a shared one 1; the rest is allowance for error.
constexpr double kSharedLimit = 1.2;
/// If this many times a fitted limit was in flight at once, the limit is not what explains the times. A load may give
/// its entry back before its whole latency is over, so that a real limit can be exceeded by a part of itself.
constexpr double kExceedsLimit = 1.5;

/// Launches of this many warps, in which each warp has 1 to `most_loads` loads in flight, each of a line of its own.
std::vector<OutstandingPoint> loads_of(Setup& setup, int warps, InFlightSurface& surface, std::string_view from) {
    std::vector<OutstandingPoint> points;
    results::Trace trace{.name = fmt::format("outstanding/{}loads_of_{}_warps", from, warps),
                         .experiment = "outstanding"};
    trace.columns = {{"loads", "count", {}}, {"complete", "cycles", {}}};
    trace.plot = {warps == 1 ? "Loads of one warp, each of one line"
                             : fmt::format("Loads of each of {} warps, each of one line", warps),
                  "loads",
                  {"complete"},
                  false,
                  false};
    for (int loads = 1; loads <= setup.most_loads; ++loads) {
        const auto point = surface.measure({.count = loads}, {.share = kWarpSize}, warps * kWarpSize);
        if (!point) break;
        points.push_back(
            {{.threads = warps * kWarpSize, .loads = loads, .threads_per_line = kWarpSize}, point->complete});
        trace.add_row(loads, point->complete);
    }
    setup.outcome.traces.push_back(std::move(trace));
    return points;
}

/// Returns the fit. Its limit is 0 unless a limit reduces the error to less than `kWarpLimitGain` of the error without
/// one.
deduce::WarpLoadsFit limit_of(std::span<const OutstandingPoint> points) {
    auto fit = deduce::fit_warp_loads(points);
    if (fit.error >= kWarpLimitGain * fit.error_without) fit.limit = 0;
    return fit;
}

/// Loads from memory take longer than from the L2, so that more of them are issued before the first one returns.
void report_no_limit(Setup& setup, const Launches& cached, const Evidence& evidence) {
    setup.outcome.estimates.push_back(undecided("issue.scoreboard_loads", {}, evidence));
    const std::vector both{cached, launches_of(loads_of(setup, 1, setup.memory(), "memory_"),
                                               std::numeric_limits<double>::infinity(), setup.overhead)};
    setup.outcome.estimates.push_back(
        most_in_flight("issue.scoreboard_at_least", both, OutstandingUnit::instructions, "loads"));
}

}  // namespace

void find_warp_limit(Setup& setup) {
    const auto points = loads_of(setup, 1, setup.cached, "");
    const auto alone = limit_of(points);
    const std::string method = fmt::format(
        "outstanding: one warp, then two, with 1 to {} loads in flight; a model with a limit explains the latencies "
        "with an error of {:.2g}%, a model without one with {:.2g}%",
        alone.most, 100 * alone.error, 100 * alone.error_without);
    const std::vector cached{launches_of(points, setup.far_hit, setup.overhead)};
    const auto bound =
        count_of(most_in_flight("issue.scoreboard_at_least", cached, OutstandingUnit::instructions, "loads"));
    if (alone.limit == 0 || static_cast<double>(bound) > kExceedsLimit * alone.limit)
        return report_no_limit(
            setup, cached.front(),
            {method, kConfidence,
             fmt::format("no limit shows up to {} loads, of which at least {} were in flight at once", alone.most,
                         bound)});
    // A limit of each warp lets two warps have twice as many loads in flight as one; a limit of the SM does not.
    const auto both = limit_of(loads_of(setup, 2, setup.cached, ""));
    if (both.limit > 0 && 2 * both.limit < kSharedLimit * alone.limit) {
        setup.outcome.estimates.push_back(
            undecided("issue.scoreboard_loads", {},
                      {method, kConfidence,
                       fmt::format("one warp reaches the limit with {} loads, two warps with {} each: they share it",
                                   alone.limit, both.limit)}));
        setup.outcome.estimates.push_back(
            decided("issue.scoreboard_at_least", std::int64_t{alone.limit},
                    {method, kConfidence, "a limit of the whole SM keeps one warp from having more in flight"}));
        return;
    }
    setup.warp_loads = alone.limit;
    setup.outcome.estimates.push_back(
        decided("issue.scoreboard_loads", std::int64_t{alone.limit}, {method, kConfidence}));
}

}  // namespace gputomo::experiments::outstanding
