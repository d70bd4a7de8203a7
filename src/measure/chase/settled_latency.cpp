#include "measure/chase/settled_latency.hpp"

#include "units/statistics.hpp"

#include <cmath>

namespace gputomo::measure {
namespace {

/// Ranges over SMs are rounded to whole cycles: the extremes of some hundred latencies, each this uncertain, keep
/// within half a cycle.
constexpr double kUncertain = 0.1;
/// Where loads differ so much that not even the larger number of walks would tell, they differ for other reasons than
/// jitter: the smaller one has to do.
constexpr int kMostWalks = 24, kFewWalks = 6;
/// Standard deviation of a median, in those of a mean of as many readings.
constexpr double kOfMedian = 1.253;

}  // namespace

std::optional<SettledLatency> settled_latency(const std::function<std::vector<double>()>& walk, double step) {
    std::vector<double> latencies;
    SettledLatency settled;
    for (int walks = 0; walks < kMostWalks; ++walks) {
        const auto more = walk();
        latencies.insert(latencies.end(), more.begin(), more.end());
        if (latencies.empty()) return std::nullopt;
        const auto at = location(latencies, step);
        const bool jitter = median_deviation(latencies) > step;
        settled = {at.mean, jitter ? at.median : at.mean, kOfMedian * at.uncertainty};
        const double wanted = (walks + 1) * std::pow(settled.uncertainty / kUncertain, 2);
        if (wanted <= walks + 1 || (wanted > kMostWalks && walks + 1 >= kFewWalks)) break;
    }
    return settled;
}

}  // namespace gputomo::measure
