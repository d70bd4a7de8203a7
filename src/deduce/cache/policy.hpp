// The replacement policy: each candidate is asked to explain which lines a full set evicted.
#pragma once

#include "deduce/cache/probe.hpp"

namespace gputomo::deduce::cache {

/// Walks over `lines`, one more than their set has ways, in random orders. `company`: lines of other sets, which stay;
/// all of them come between two visits of a line, so that a nearer level has lost it. `piece`: bytes of a line that
/// come with one miss.
[[nodiscard]] PolicyFinding find_policy(const Probe& probe, const Offsets& lines, const Offsets& filler,
                                        std::uint64_t piece);

}  // namespace gputomo::deduce::cache
