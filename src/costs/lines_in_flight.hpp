// The number of lines of an SM's first-level cache that can be in flight at once.
#pragma once

#include "machine/machine.hpp"

#include <cstdint>
#include <optional>

namespace gputomo::costs {

/// The first-level cache beside the shared memory of the resident blocks.
struct CacheLines {
    std::int64_t lines = 0;
    std::int64_t ways = 0;  ///< of a set; 0: unknown
};

/// The cache that shares its storage with shared memory, if the resident blocks take `shared_bytes` of an SM. The
/// smallest described split that holds them applies. Returns nullopt if the description has no splits.
[[nodiscard]] std::optional<CacheLines> lines_beside(const machine::Machine& machine, std::int64_t shared_bytes);

/// Mean number of lines in flight under an endless stream of misses to random lines. A load occupies a way of its set
/// until its data arrive. If all ways of the set are in flight it waits, and so do the later loads of its scheduler.
/// Returns all lines of the cache if its ways are unknown.
[[nodiscard]] double mean_lines_in_flight(const CacheLines& cache, int schedulers);

}  // namespace gputomo::costs
