// How many bytes share one tag, and how many one miss fills.
#pragma once

#include "deduce/cache/eviction_set.hpp"

namespace gputomo::deduce::cache {

/// What a walk through a window shows that an eviction emptied: one miss for each piece that is filled.
struct SectorSize {
    std::uint64_t bytes = 0;  ///< 0: no misses where eviction was expected
    double agreement = 0;     ///< share of the pieces that have this size; 0: the whole window is one piece
};
[[nodiscard]] SectorSize find_sector(const Probe& probe);

/// Size of a line, from `least` on by powers of two: one line of an overfull set is replaced by its neighbour. Within
/// the same line the set stays overfull, and the neighbour takes no way of a set that is just full. 0: nothing up to
/// `most` shows an end.
[[nodiscard]] std::uint64_t find_line(const Probe& probe, const EvictionSet& eviction_set, std::uint64_t least,
                                      std::uint64_t most);

}  // namespace gputomo::deduce::cache
