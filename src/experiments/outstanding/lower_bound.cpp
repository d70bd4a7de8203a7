#include "experiments/outstanding/lower_bound.hpp"

#include "deduce/in_flight/outstanding_bound.hpp"
#include "results/estimates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>
#include <variant>

namespace gputomo::experiments::outstanding {

Launches launches_of(std::vector<deduce::OutstandingPoint> points, double lone_load, double overhead) {
    double second = std::numeric_limits<double>::infinity();
    for (const auto& point : points) {
        second = std::min(second, std::max(lone_load, point.cycles));
        lone_load = std::min(lone_load, point.cycles);
    }
    const double latency = lone_load - overhead, further = second - lone_load;
    return {std::move(points), latency, further < latency ? latency - further : latency};
}

results::Estimate most_in_flight(std::string path, std::span<const Launches> launches, deduce::OutstandingUnit unit,
                                 const char* what) {
    deduce::OutstandingBound best;
    double latency = 0;
    int least = 0;
    for (const auto& [points, of_these, least_latency] : launches) {
        const auto bound = deduce::outstanding_bound(points, unit, of_these);
        if (bound.proven > best.proven) latency = of_these;
        best = {std::max(best.proven, bound.proven), std::max(best.issued, bound.issued),
                std::max(best.by_rate, bound.by_rate)};
        least = std::max(least, deduce::outstanding_bound(points, unit, least_latency).proven);
    }
    auto estimate = decided(
        std::move(path), std::int64_t{best.proven},
        {fmt::format("outstanding: the {} of a launch divided by the latencies ({:.0f} cycles) that fit into "
                     "its time; the largest such number",
                     what, latency),
         kConfidence,
         fmt::format("Little's law gives {:.0f}: the latency times the rate at which a launch completes further ones",
                     best.by_rate)});
    estimate.interval = {static_cast<double>(std::min(least, best.proven)),
                         std::max(static_cast<double>(best.issued), best.by_rate)};
    return estimate;
}

std::int64_t count_of(const results::Estimate& count) { return std::get<std::int64_t>(count.value); }

}  // namespace gputomo::experiments::outstanding
