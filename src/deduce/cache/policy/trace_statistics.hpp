// Statistics of recorded misses that assume no policy: does a set repeat itself, does it prefer old lines as victims?
#pragma once

#include "deduce/cache/traces/trace_segment.hpp"

#include <cstdint>
#include <vector>

namespace gputomo::deduce::cache {

/// Largest share of misses that recur after the same number of passes, 0 to 1. 0 also where too few loads miss.
[[nodiscard]] double periodic_share(const std::vector<PolicyRun>& runs);

/// How much victims are older than random ones: 0 for random victims, 0.5 if the oldest line is always the victim,
/// negative for young ones. `outlier_rate`: share of hits that read like misses.
[[nodiscard]] double age_bias(const std::vector<PolicyRun>& runs, std::uint32_t ways, double outlier_rate);

}  // namespace gputomo::deduce::cache
