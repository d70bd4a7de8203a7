// The replacement policy: each candidate is asked to explain which lines a full set evicted.
#pragma once

#include "deduce/geometry/index.hpp"

namespace gputomo::deduce::geometry {

/// Walks over one line more than the set has ways, in random orders. `piece`: bytes of a line that come with one miss.
[[nodiscard]] PolicyFinding find_policy(Probe& probe, const Index& index, std::uint64_t set, std::uint64_t ways, std::uint64_t piece);

}  // namespace gputomo::deduce::geometry
