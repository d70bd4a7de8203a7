// The latency that single loads have in common, from as many loads as their jitter requires.
#pragma once

#include <functional>
#include <optional>
#include <vector>

namespace gputomo::measure {

/// The common latency of single loads and its uncertainty.
struct SettledLatency {
    double mean = 0;         ///< cycles, of the loads that are no outliers
    double latency = 0;      ///< `mean`, or the median if jitter spreads the loads over several clock steps
    double uncertainty = 0;  ///< standard deviation of `latency`, cycles
};

/// Calls `measure` for some hundred latencies, and repeats that while jitter leaves more than a tenth of a cycle of
/// uncertainty. `step` is the clock's step in cycles. nullopt if `measure` returns no latencies.
[[nodiscard]] std::optional<SettledLatency> settled_latency(const std::function<std::vector<double>()>& measure,
                                                            double step);

}  // namespace gputomo::measure
