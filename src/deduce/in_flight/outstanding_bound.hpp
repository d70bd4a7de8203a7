// What a surface of latencies proves where no table filled up: that so many requests were under way at once.
#pragma once

#include "deduce/in_flight/outstanding_model.hpp"

#include <span>

namespace gputomo::deduce {

/// Requests that were under way at once; whatever keeps track of them has at least as many places.
struct OutstandingBound {
    /// Proven by single launches: with E places, n requests come in ceil(n / E) rounds, each of which lasts a latency
    /// at least.
    int proven = 0;
    /// Little's law: requests finished per cycle where more of them take proportionally longer, times the latency of
    /// one of them alone. An estimate: a table that fills makes steps, and a slope of few steps is off by a part of
    /// one. 0 where no slope is steady.
    double by_rate = 0;
};

/// `latency`: cycles from a request to its data, of the fastest, without what the measurement itself takes. Nothing is
/// proven without points.
[[nodiscard]] OutstandingBound outstanding_bound(std::span<const OutstandingPoint> points, OutstandingUnit unit,
                                                 double latency);

}  // namespace gputomo::deduce
