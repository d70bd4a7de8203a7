// How many lines of an SM's first cache can be under way at once.
#pragma once

#include "machine/machine.hpp"

#include <cstdint>
#include <optional>

namespace gputomo::predict {

/// What a launch leaves of the first cache.
struct CacheLines {
    std::int64_t lines = 0;
    std::int64_t ways = 0;  ///< of a set; 0: not known
};

/// The cache that shares its storage with shared memory, beside blocks that take `shared_bytes` of an SM: of the
/// described splits the smallest that holds them is in force. Nothing where the description has no splits.
[[nodiscard]] std::optional<CacheLines> lines_beside(const machine::Machine& machine, std::int64_t shared_bytes);

/// Mean number of lines under way where loads that miss never end and lie anywhere. A load needs a place in the set of
/// its line until its data come; where all of them are under way it waits, and what its scheduler issued behind it
/// waits too. As many as there are lines where sets are not known.
[[nodiscard]] double mean_lines_in_flight(const CacheLines& cache, int schedulers);

}  // namespace gputomo::predict
