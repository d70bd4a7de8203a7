// Turns findings about a cache or TLB into estimates of the machine description's leaves.
#pragma once

#include "deduce/cache/findings/findings.hpp"
#include "results/estimate.hpp"

#include <string>
#include <vector>

namespace gputomo::deduce {

/// Estimates for caches.KEY.* (sector, line, capacity, ways, sets, set_ways, index, policy, way_odds). `prefix`:
/// "caches.KEY".
[[nodiscard]] std::vector<results::Estimate> cache_estimates(const CacheFindings& findings, const std::string& prefix,
                                                             const std::string& method);
/// Estimates for tlbs.KEY.* (span, reach, entries, ways, sets, set_ways, policy). `prefix`: "tlbs.KEY".
[[nodiscard]] std::vector<results::Estimate> tlb_estimates(const CacheFindings& findings, const std::string& prefix,
                                                           const std::string& method);

}  // namespace gputomo::deduce
