// The replacement policy: each candidate has to explain which lines a full set evicted.
#pragma once

#include "deduce/cache/chase/probe.hpp"
#include "deduce/cache/findings/findings.hpp"

namespace gputomo::deduce::cache {

/// Loads `lines`, one more than the ways of their set, in random orders. `filler`: resident lines of other sets; all of
/// them are loaded between two loads of a line, so that an upper level has evicted it. `sector`: bytes of a line that
/// one miss fills.
[[nodiscard]] PolicyFinding find_policy(const Probe& probe, const Offsets& lines, const Offsets& filler,
                                        std::uint64_t sector);

}  // namespace gputomo::deduce::cache
