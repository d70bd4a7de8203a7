// Levels of a memory path: their latencies, and the array size up to which each serves.
#pragma once

#include "deduce/cache/chase/chase.hpp"

#include <cstdint>
#include <vector>

namespace gputomo::deduce {

struct LevelQuestion {
    std::uint64_t smallest = 512;  ///< bytes of the first array
    std::uint64_t largest = 0;     ///< bytes available
    std::uint64_t stride = 256;    ///< bytes; about a line, so that most loads of an array that is too large miss
    /// Fewest cycles between two levels. A clock that advances in steps of several cycles needs more.
    double least_step = 3;
    /// Sizes 1, 1.5, 2, 3, 4, ... instead of 1, 2, 4, ...: for levels that are at most twice as large as the one
    /// before.
    bool half_octaves = false;
    /// Most loads of one pass: larger arrays are read with a doubled stride.
    std::uint64_t max_pass_loads = 1 << 19;
};

struct Level {
    double latency = 0;           ///< median, cycles
    double low = 0, high = 0;     ///< 5% and 95% quantiles of this level's readings, cycles
    std::uint64_t fits = 0;       ///< bytes of the largest array tried that this level or a nearer one serves
    std::uint64_t overflows = 0;  ///< bytes of the next larger array tried, which it does not serve; 0: none
};

struct LevelSweep {
    std::vector<Level> levels;  ///< nearest first
    struct Point {
        std::uint64_t bytes = 0;
        std::uint64_t stride = 0;                        ///< bytes
        double median = 0, low = 0, high = 0, mean = 0;  ///< cycles; low and high are the 5% and 95% quantiles
    };
    std::vector<Point> points;  ///< one per array size
};

/// Enlarges the array up to `largest`. A new level starts at the size whose slower loads lie outside the latency range
/// of the level before (Wong 2010, III-B; Saavedra's method). A level that only one size shows is dropped, because that
/// array mixes two levels.
[[nodiscard]] LevelSweep deduce_levels(const Chase& chase, const LevelQuestion& question);

}  // namespace gputomo::deduce
