#include "experiments/caches/settled_latency.hpp"

#include "deduce/statistics.hpp"

#include <cmath>

namespace gputomo::experiments {
namespace {

/// Ranges over SMs are rounded to whole cycles: the extremes of some dozen latencies, each this uncertain, keep within half a cycle.
constexpr double kUncertain = 0.2;
constexpr int kMostWalks = 6;
/// Standard deviation of a median, in median deviations of the readings and over the root of their number.
constexpr double kDeviation = 1.86;

}  // namespace

std::optional<SettledLatency> settled_latency(const std::function<std::vector<double>()>& walk, double step) {
    std::vector<double> latencies;
    SettledLatency settled;
    for (int walks = 0; walks < kMostWalks; ++walks) {
        const auto more = walk();
        latencies.insert(latencies.end(), more.begin(), more.end());
        if (latencies.empty()) return std::nullopt;
        const double deviation = deduce::median_deviation(latencies);
        settled = {deviation > step ? deduce::median_of_steps(latencies, step) : deduce::mean_near_median(latencies, step),
                   kDeviation * deviation / std::sqrt(static_cast<double>(latencies.size()))};
        if (settled.uncertainty <= kUncertain) break;
    }
    return settled;
}

}  // namespace gputomo::experiments
