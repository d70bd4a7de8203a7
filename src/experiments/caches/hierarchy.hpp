// The levels of cache on the way to global memory, from latency against the size of the array.
#pragma once

#include "deduce/cache/levels/levels.hpp"
#include "experiments/experiment.hpp"
#include "measure/chase/chase_array.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace gputomo::experiments {

/// Distances in bytes between the loads of arrays: two for each of the shortest lines, and one for each line of an L2.
inline constexpr std::uint64_t kNearStride = 64, kFarStride = 128;
/// Bytes of the smallest array for loads past the first level.
inline constexpr std::uint64_t kSmallestFar = std::uint64_t{32} << 10;

/// A level of cache as one chase sees it.
struct FoundCache {
    std::string name;
    deduce::Level level;
    double next_latency = 0;  ///< of the next level, in cycles
    ChaseArray* array = nullptr;
    std::uint64_t stride = 0;      ///< of the chase that found it, in bytes
    std::uint64_t smallest = 512;  ///< bytes of the smallest array that this cache serves and nearer ones do not
};

struct Hierarchy {
    std::vector<FoundCache> caches;
    deduce::Level memory;
};

/// Finds the levels, nearest first. `near` loads through the first level, `far` past it. `beyond_first` describes the
/// sweep of `far`. Adds the sweeps and the distributions of their latencies to `outcome`.
[[nodiscard]] Hierarchy find_hierarchy(ChaseArray& near, ChaseArray& far, deduce::LevelQuestion beyond_first,
                                       Outcome& outcome);

}  // namespace gputomo::experiments
