#include "deduce/in_flight/outstanding_bound.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <tuple>

namespace gputomo::deduce {
namespace {

using Curve = std::map<int, double>;  // cycles by requests

/// Rates of the two halves of the upper part of a curve agree this well where time grows in proportion.
constexpr double kSteady = 0.85;

/// Requests per cycle from one point to a later one: what launches take at their beginning and end cancels. 0 where
/// time does not grow.
double rate_between(const Curve& curve, int from, int to) {
    const auto first = curve.lower_bound(from), last = curve.lower_bound(to);
    if (first->first == last->first || last->second <= first->second) return 0;
    return (last->first - first->first) / (last->second - first->second);
}

/// Of the larger three quarters of a curve; 0 where they are not of one slope, or are too few points to say.
double steady_rate(const Curve& curve) {
    constexpr std::size_t kFewest = 8;
    if (curve.size() < kFewest) return 0;
    const int most = curve.rbegin()->first;
    const double early = rate_between(curve, most / 4, most / 2), late = rate_between(curve, most / 2, most);
    return std::min(early, late) >= kSteady * std::max(early, late) ? std::min(early, late) : 0;
}

}  // namespace

OutstandingBound outstanding_bound(std::span<const OutstandingPoint> points, OutstandingUnit unit, double latency) {
    OutstandingBound bound;
    std::map<std::tuple<int, int, int, int, int>, Curve>
        curves;  // of more and more threads, and of more and more loads
    for (const auto& [launch, cycles] : points) {
        const int requests = units_of(launch, unit);
        const double rounds = std::max(1.0, std::floor(cycles / latency));
        bound.proven = std::max(bound.proven, static_cast<int>(std::ceil(requests / rounds)));
        curves[{0, launch.loads, launch.threads_per_line, launch.sectors_per_line, launch.active_lanes}][requests] =
            cycles;
        curves[{launch.threads, 0, launch.threads_per_line, launch.sectors_per_line, launch.active_lanes}][requests] =
            cycles;
    }
    for (const auto& [pattern, curve] : curves) {
        // While all of a launch is under way at once it finishes in one latency, whatever its size: a rate says nothing
        // then.
        if (curve.rbegin()->second > 2 * latency) bound.by_rate = std::max(bound.by_rate, steady_rate(curve) * latency);
    }
    return bound;
}

}  // namespace gputomo::deduce
