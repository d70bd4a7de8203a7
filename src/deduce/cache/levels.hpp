// Levels of a memory path: which latencies there are, and the array size up to which each serves.
#pragma once

#include "deduce/cache/chase.hpp"

#include <cstdint>
#include <vector>

namespace gputomo::deduce {

struct LevelQuestion {
    std::uint64_t smallest = 512;  ///< bytes of the first array
    std::uint64_t largest = 0;     ///< bytes available
    std::uint64_t stride = 256;    ///< bytes; about a line, so that most loads of an array too large miss
    double least_step = 3;  ///< cycles between two levels, at least; more where the clock steps in several cycles
    bool half_octaves =
        false;  ///< sizes 1, 1.5, 2, 3, 4, ... instead of 1, 2, 4: for levels no larger than twice the one before
    /// Arrays of more loads than this are walked with a doubled stride.
    std::uint64_t max_pass_loads = 1 << 19;
};

struct Level {
    double latency = 0;           ///< median, cycles
    double low = 0, high = 0;     ///< 5% and 95% of the readings of this level
    std::uint64_t fits = 0;       ///< largest array tried that this level (or a nearer one) serves
    std::uint64_t overflows = 0;  ///< next larger array tried, which it does not; 0: none
};

struct LevelSweep {
    std::vector<Level> levels;  ///< nearest first
    struct Point {
        std::uint64_t bytes = 0;
        std::uint64_t stride = 0;
        double median = 0, low = 0, high = 0, mean = 0;
    };
    std::vector<Point> points;  ///< one per array size
};

/// Doubles the array until `largest`. A new level starts where the slower loads leave the spread of the level before
/// (Wong 2010, III-B; Saavedra's method). One that the next size leaves again was the way from one level to the next,
/// not a level.
[[nodiscard]] LevelSweep deduce_levels(const Chase& chase, const LevelQuestion& question);

}  // namespace gputomo::deduce
