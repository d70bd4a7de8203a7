#include "deduce/in_flight/outstanding_bound.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <tuple>

namespace gputomo::deduce {
namespace {

using CyclesByRequests = std::map<int, double>;

/// A slope is steady if the slower half of a curve's upper part has at least this share of the faster half's rate.
/// Chosen by hand: a smaller share accepts curves that still bend, whose slope overstates the requests in flight.
constexpr double kSteady = 0.85;

/// Requests per cycle from one point to a later one. The difference cancels what every launch takes at its start and
/// end. 0 where time does not grow.
double rate_between(const CyclesByRequests& curve, int from, int to) {
    const auto first = curve.lower_bound(from), last = curve.lower_bound(to);
    if (first->first == last->first || last->second <= first->second) return 0;
    return (last->first - first->first) / (last->second - first->second);
}

/// Points of a curve whose slope counts, at least. With eight evenly spaced ones, each of the two compared halves has
/// two or more. With fewer, one outlier could decide a half.
constexpr std::size_t kFewestPoints = 8;

/// Requests per cycle in the upper three quarters of a curve. Returns 0 if their slope is not steady, or if the curve
/// has too few points to compare two halves.
double steady_rate(const CyclesByRequests& curve) {
    if (curve.size() < kFewestPoints) return 0;
    const int most = curve.rbegin()->first;
    const double early = rate_between(curve, most / 4, most / 2), late = rate_between(curve, most / 2, most);
    return std::min(early, late) >= kSteady * std::max(early, late) ? std::min(early, late) : 0;
}

}  // namespace

OutstandingBound outstanding_bound(std::span<const OutstandingPoint> points, OutstandingUnit unit, double latency) {
    OutstandingBound bound;
    std::map<std::tuple<int, int, int, int, int>, CyclesByRequests>
        curves;  // by (threads, loads, pattern); the coordinate that a curve sweeps is 0 in its key
    for (const auto& [launch, cycles] : points) {
        const int requests = units_of(launch, unit);
        const double rounds = std::max(1.0, std::floor(cycles / latency));
        bound.proven = std::max(bound.proven, static_cast<int>(std::ceil(requests / rounds)));
        bound.issued = std::max(bound.issued, requests);
        curves[{0, launch.loads, launch.threads_per_line, launch.sectors_per_line, launch.active_lanes}][requests] =
            cycles;
        curves[{launch.threads, 0, launch.threads_per_line, launch.sectors_per_line, launch.active_lanes}][requests] =
            cycles;
    }
    for (const auto& [pattern, curve] : curves) {
        // A launch whose requests are all in flight together ends after one latency, whatever its size. Its rate
        // therefore bounds nothing until the launch lasts two latencies.
        if (curve.rbegin()->second > 2 * latency) bound.by_rate = std::max(bound.by_rate, steady_rate(curve) * latency);
    }
    return bound;
}

}  // namespace gputomo::deduce
