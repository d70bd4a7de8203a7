// Which queueing description explains a surface of latencies over threads, loads and patterns, and with how many
// entries.
#pragma once

#include "deduce/in_flight/outstanding_model.hpp"

#include <span>
#include <vector>

namespace gputomo::deduce {

struct OutstandingFit {
    OutstandingModel model;
    /// Mean over the curves of the surface of the mean of |predicted - measured| / measured.
    double error = 0;
    /// Fewest and most entries that explain the surface nearly as well.
    int least_entries = 0;
    int most_entries = 0;
};

/// How many loads one warp can have under way, from launches of 1, 2, 3, ... loads of each warp; 0 where there is no
/// limit within them.
struct WarpLoadsFit {
    int limit = 0;
    int most = 0;  ///< loads that were tried
    double error =
        0;  ///< root of the mean square of what the description leaves unexplained, as a share of the mean latency
    double error_without = 0;  ///< of the one without a limit
};
[[nodiscard]] WarpLoadsFit fit_warp_loads(std::span<const OutstandingPoint> points);

/// The best description with each unit, best first. `warp_loads` is the limit of one warp, 0 for none.
/// Times come from the same surface, so that each design has the same freedom.
[[nodiscard]] std::vector<OutstandingFit> fit_outstanding(std::span<const OutstandingPoint> points, int warp_loads);

}  // namespace gputomo::deduce
