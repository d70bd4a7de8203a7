// How many requests were certainly in flight at once: what is reported where no limit was found.
#pragma once

#include "experiments/outstanding/setup.hpp"

#include <span>
#include <string>
#include <vector>

namespace gputomo::experiments::outstanding {

/// Launches of loads from one level of memory.
struct Launches {
    std::vector<deduce::OutstandingPoint> points;
    /// Cycles that a load takes at least, without the overhead of measuring it.
    double latency = 0;
    /// What an even faster load may take, which was not seen. As far below the fastest one as that is below the
    /// second fastest (Robson and Whitlock 1964: the end of a distribution from its two outermost samples).
    double least_latency = 0;
};

/// The latency is that of the fastest launch or of `lone_load`, whichever is faster, less `overhead`, all in cycles.
[[nodiscard]] Launches launches_of(std::vector<deduce::OutstandingPoint> points, double lone_load, double overhead);

/// Estimate of the leaf at `path`: the requests that were in flight at once, by the launches that show most of them.
/// Its interval begins at what they show if a faster load was not seen. It ends at the requests of the largest launch,
/// or at the number that Little's law gives, whichever is larger. `what` names the unit for readers: "lines".
[[nodiscard]] results::Estimate most_in_flight(std::string path, std::span<const Launches> launches,
                                               deduce::OutstandingUnit unit, const char* what);

/// The number of such an estimate.
[[nodiscard]] std::int64_t count_of(const results::Estimate& count);

}  // namespace gputomo::experiments::outstanding
