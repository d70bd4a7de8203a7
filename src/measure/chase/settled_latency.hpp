// The latency that single loads have in common, from as many of them as their jitter asks for.
#pragma once

#include <functional>
#include <optional>
#include <vector>

namespace gputomo::measure {

struct SettledLatency {
    double mean = 0;  ///< of the loads that are no accidents
    double latency =
        0;  ///< the same mean; where jitter spreads them over several steps of the clock, their median between steps
    double uncertainty = 0;  ///< standard deviation of that, cycles
};

/// Calls `walk` for some hundred latencies, and again as long as jitter leaves more than a tenth of a cycle uncertain.
/// `step` is that of the clock. Nothing where the walk has no latencies.
[[nodiscard]] std::optional<SettledLatency> settled_latency(const std::function<std::vector<double>()>& walk,
                                                            double step);

}  // namespace gputomo::measure
