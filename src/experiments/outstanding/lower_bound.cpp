#include "experiments/outstanding/lower_bound.hpp"

#include "deduce/in_flight/outstanding_bound.hpp"
#include "results/estimates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <variant>

namespace gputomo::experiments::outstanding {

Launches launches_of(std::vector<deduce::OutstandingPoint> points, double lone_load, double overhead) {
    for (const auto& point : points) lone_load = std::min(lone_load, point.cycles);
    return {std::move(points), lone_load - overhead};
}

results::Estimate most_in_flight(std::string path, std::span<const Launches> launches, deduce::OutstandingUnit unit,
                                 const char* what) {
    deduce::OutstandingBound best;
    double latency = 0;
    for (const auto& [points, of_these] : launches) {
        const auto bound = deduce::outstanding_bound(points, unit, of_these);
        if (bound.proven > best.proven) latency = of_these;
        best = {std::max(best.proven, bound.proven), std::max(best.by_rate, bound.by_rate)};
    }
    auto estimate = decided(
        std::move(path), std::int64_t{best.proven},
        {fmt::format("outstanding: the {} of a launch divided by the latencies ({:.0f} cycles) that fit into "
                     "its time; the largest such number",
                     what, latency),
         kConfidence,
         fmt::format("Little's law gives {:.0f}: the latency times the rate at which a launch completes further ones",
                     best.by_rate)});
    estimate.interval = {static_cast<double>(best.proven), std::max(static_cast<double>(best.proven), best.by_rate)};
    return estimate;
}

std::int64_t count_of(const results::Estimate& count) { return std::get<std::int64_t>(count.value); }

}  // namespace gputomo::experiments::outstanding
