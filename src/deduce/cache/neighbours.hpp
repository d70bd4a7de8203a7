// Lines, and what is fetched ahead of a walk, read from single neighbours.
//
// Where a miss brings what lies ahead as well, walks forward meet few misses, and groups of lines come and go with
// their neighbours: sets cannot be told. A load right behind a cold one still says what came along: something in front
// of it means a longer line, something behind it the line or what was fetched ahead.
#pragma once

#include "deduce/cache/chase.hpp"

#include <cstdint>
#include <vector>

namespace gputomo::deduce {

struct NeighbourQuestion {
    double miss_threshold = 0;         ///< cycles; a slower load was served by a farther level
    std::uint64_t granule = 8;         ///< bytes; least distance of two loads
    std::uint64_t buffer_bytes = 0;    ///< bytes available
    std::uint64_t max_pass_loads = 0;  ///< of one pass
    std::uint64_t longest_line = 0;    ///< bytes, a power of two times the granule
    std::uint64_t seed = 1;
};

struct Neighbours {
    /// Bytes that a miss brings, aligned: the granule where not even its neighbour comes along (a line may be shorter);
    /// 0: too few loads were cold, or neighbours on both sides of a line's end were there as often.
    std::uint64_t line = 0;
    std::uint64_t prefetched = 0;  ///< bytes behind the line's end that came along nearly always
    struct Share {
        std::int64_t distance = 0;  ///< bytes from a cold load to its neighbour
        double inside = 0;   ///< of neighbours within the aligned block of twice the distance, the share that was there
        double outside = 0;  ///< the same beyond the block's end
        std::size_t cold = 0;  ///< first loads that count, of the fewer of both kinds
    };
    std::vector<Share> shares;
};

/// Pairs of a load and its neighbour, each pair far from the next one of the tour. Of each distance, only pairs whose
/// first load was cold count.
[[nodiscard]] Neighbours find_neighbours(const Chase& chase, const NeighbourQuestion& question);

}  // namespace gputomo::deduce
