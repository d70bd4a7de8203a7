// A lower bound on the requests in flight, from a surface of latencies in which no table filled up.
#pragma once

#include "deduce/in_flight/outstanding_model.hpp"

#include <span>

namespace gputomo::deduce {

/// Requests that were in flight at the same time. The structure that tracks them has at least this many entries.
struct OutstandingBound {
    /// Proven by single launches: with E entries, n requests take at least ceil(n / E) latencies.
    int proven = 0;
    /// Requests of the largest launch: nothing rules out that all of them were in flight.
    int issued = 0;
    /// Estimate by Little's law: the steady throughput in requests per cycle, times the latency of a lone request.
    /// A table that fills makes steps, so a slope over few steps is off by a fraction of one step. 0 where no curve
    /// has a steady slope.
    double by_rate = 0;
};

/// `latency`: cycles from a request to its data for the fastest request, measurement overhead subtracted. Without
/// points both bounds are 0.
[[nodiscard]] OutstandingBound outstanding_bound(std::span<const OutstandingPoint> points, OutstandingUnit unit,
                                                 double latency);

}  // namespace gputomo::deduce
