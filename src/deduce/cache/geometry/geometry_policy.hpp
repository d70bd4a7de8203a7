// The replacement policy of a cache whose geometry is known.
#pragma once

#include "deduce/cache/chase/probe.hpp"
#include "deduce/cache/findings/findings.hpp"
#include "deduce/cache/sets/index.hpp"

#include <cstdint>
#include <vector>

namespace gputomo::deduce::cache {

/// What is loaded to find the policy of one set.
struct PolicyLines {
    Offsets lines;             ///< of the set, one more than its ways
    Offsets filler;            ///< resident lines of other sets
    std::uint64_t sector = 0;  ///< bytes that one miss fills
};

/// The lines of the largest set. None, and a remark, where the buffer does not hold one more than the set has ways.
[[nodiscard]] Offsets lines_of_largest_set(const Index& index, const std::vector<std::uint64_t>& ways,
                                           CacheFindings& findings);

/// Finds the policy of a cache whose line and ways are in the findings. Without lines it does nothing; why a policy is
/// not determined is a remark.
void write_policy(CacheFindings& findings, const Probe& probe, const PolicyLines& of);

}  // namespace gputomo::deduce::cache
