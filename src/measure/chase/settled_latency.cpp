#include "measure/chase/settled_latency.hpp"

#include "units/statistics.hpp"

#include <cmath>

namespace gputomo::measure {
namespace {

/// Uncertainty in cycles that is small enough. Ranges over SMs are rounded to whole cycles, and the extremes of some
/// hundred latencies with this uncertainty stay within half a cycle.
constexpr double kUncertain = 0.1;
/// Most repetitions. If even these would not reach the uncertainty, the loads differ for other reasons than jitter,
/// and the smaller number must do.
constexpr int kMostRuns = 24, kFewRuns = 6;
/// Standard deviation of a median, relative to that of the mean of as many readings (normal distribution).
constexpr double kOfMedian = 1.253;

}  // namespace

std::optional<SettledLatency> settled_latency(const std::function<std::vector<double>()>& measure, double step) {
    std::vector<double> latencies;
    SettledLatency settled;
    for (int runs = 0; runs < kMostRuns; ++runs) {
        const auto more = measure();
        latencies.insert(latencies.end(), more.begin(), more.end());
        if (latencies.empty()) return std::nullopt;
        const auto at = location(latencies, step);
        const bool jitter = median_deviation(latencies) > step;
        settled = {at.mean, jitter ? at.median : at.mean, kOfMedian * at.uncertainty};
        const double wanted = (runs + 1) * std::pow(settled.uncertainty / kUncertain, 2);
        if (wanted <= runs + 1 || (wanted > kMostRuns && runs + 1 >= kFewRuns)) break;
    }
    return settled;
}

}  // namespace gputomo::measure
