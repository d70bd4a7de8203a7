// Line size and prefetch of a cache, from pairs of a missing load and a neighbour loaded right after it.
//
// Where a miss prefetches what follows, sequential reads see few misses and groups of lines come and go with their
// neighbours: sets cannot be found. A load right after a missing one still shows what the miss brought. A hit before
// it means a longer line, a hit after it the line or a prefetch.
#pragma once

#include "deduce/cache/chase/chase.hpp"

#include <cstdint>
#include <vector>

namespace gputomo::deduce {

struct NeighbourQuestion {
    double miss_threshold = 0;         ///< cycles; a slower load was served by a farther level
    std::uint64_t granule = 8;         ///< bytes; least distance of two loads
    std::uint64_t buffer_bytes = 0;    ///< bytes available
    std::uint64_t max_pass_loads = 0;  ///< loads of one pass
    std::uint64_t longest_line = 0;    ///< bytes, a power of two times the granule
    std::uint64_t seed = 1;
};

struct Neighbours {
    /// Bytes that a miss brings, aligned. It is the granule where not even a neighbour is brought; a line may be
    /// shorter. It is 0 where too few first loads missed, or neighbours on both sides of a line's end hit equally
    /// often.
    std::uint64_t line = 0;
    std::uint64_t prefetched = 0;  ///< bytes after the line's end that nearly every miss brings
    struct Share {
        std::int64_t distance = 0;  ///< bytes from a missing load to its neighbour
        double inside = 0;          ///< hit rate of neighbours inside the aligned block of twice the distance
        double outside = 0;         ///< hit rate of neighbours outside it
        std::size_t cold = 0;       ///< missing first loads, of the kind that has fewer
    };
    std::vector<Share> shares;
};

/// Reads pairs of a load and its neighbour, each pair far from the next one of the sequence. Only pairs whose first
/// load misses count.
[[nodiscard]] Neighbours find_neighbours(const Chase& chase, const NeighbourQuestion& question);

}  // namespace gputomo::deduce
