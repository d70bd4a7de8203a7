// Probabilities with which a set that evicts at random chooses its single ways.
#pragma once

#include "deduce/cache/policy/eviction_trace.hpp"

#include <cstdint>
#include <vector>

namespace gputomo::deduce::cache {

struct WayOdds {
    std::vector<double> by_rank;  ///< largest first, sum 1; empty where nothing shows that ways differ
    double confidence = 0;        ///< probability that ways differ
};

/// Counts the victims of each way. Ways whose counts may differ at random get the same odds. `outlier_rate`: share of
/// hits that read like misses.
[[nodiscard]] WayOdds odds_of_ways(const std::vector<TraceSegment>& segments, std::uint32_t ways, double outlier_rate);

}  // namespace gputomo::deduce::cache
