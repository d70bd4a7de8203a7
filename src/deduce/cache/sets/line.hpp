// How many bytes one miss fills (the sector), and how many share one tag (the line).
#pragma once

#include "deduce/cache/sets/eviction_set.hpp"

namespace gputomo::deduce::cache {

/// The distance of misses when a window is read word by word after an access sequence that evicted it.
struct SectorSize {
    std::uint64_t bytes = 0;  ///< 0: no load missed although eviction was expected
    double agreement = 0;     ///< share of the distances between misses that equal `bytes`; 0: the window missed once
};
[[nodiscard]] SectorSize find_sector(const Probe& probe);

/// Bytes of a line, by powers of two from `least` on (after Wong 2010, Fig. 15): one line of an eviction set is
/// replaced by its neighbour. Within the same line, the set still overflows, and the neighbour takes no way of a set
/// that is just full. Returns 0 if no size up to `most` shows the line's end.
[[nodiscard]] std::uint64_t find_line(const Probe& probe, const EvictionSet& eviction_set, std::uint64_t least,
                                      std::uint64_t most);

}  // namespace gputomo::deduce::cache
