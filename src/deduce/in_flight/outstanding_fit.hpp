// Fits queueing models of outstanding requests to a surface of latencies over threads, loads and access patterns.
#pragma once

#include "deduce/in_flight/outstanding_model.hpp"

#include <span>
#include <vector>

namespace gputomo::deduce {

struct OutstandingFit {
    OutstandingModel model;
    /// |predicted - measured| / measured: the mean over each curve's points, then over the curves.
    double error = 0;
    /// The fewest and the most entries whose error is nearly as small.
    int least_entries = 0;
    int most_entries = 0;
};

/// How many loads one warp can have in flight, from launches of 1, 2, 3, ... loads per warp.
struct WarpLoadsFit {
    int limit = 0;  ///< loads in flight per warp; 0 if no limit shows among the tried numbers of loads
    int most = 0;   ///< the largest number of loads that was tried
    /// Root mean square of the residuals of a staircase (with a limit) and of a line (without one), each as a share of
    /// the mean latency.
    double error = 0;
    double error_without = 0;
};
[[nodiscard]] WarpLoadsFit fit_warp_loads(std::span<const OutstandingPoint> points);

/// The best model for each OutstandingUnit, smallest error first. `warp_loads` is the limit of one warp, 0 for none.
/// All times are fitted to the same surface, so that each design has the same number of free parameters.
[[nodiscard]] std::vector<OutstandingFit> fit_outstanding(std::span<const OutstandingPoint> points, int warp_loads);

}  // namespace gputomo::deduce
