// Odds of single ways of a set that evicts by chance.
#pragma once

#include "deduce/cache/eviction_trace.hpp"

#include <cstdint>
#include <vector>

namespace gputomo::deduce::cache {

struct WayOdds {
    std::vector<double> by_rank;  ///< largest first; empty where ways don't differ, or nothing shows that they do
    double confidence = 0;        ///< that they do
};

/// Each way's victims are counted, and ways that chance may part have one and the same odds. `accidental`: share of
/// hits that read like misses.
[[nodiscard]] WayOdds odds_of_ways(const std::vector<TraceSegment>& segments, std::uint32_t ways, double outlier_rate);

}  // namespace gputomo::deduce::cache
