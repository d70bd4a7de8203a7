// Finds the partitions of a cache: each serves a share of the lines, and is nearer to some SMs than to others.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace gputomo::deduce {

/// Hit latency in cycles by SM (row) and line (column). All rows have the same length.
using LatencyMap = std::vector<std::vector<double>>;

struct Partitions {
    std::size_t count = 0;             ///< 1 or 2; 0: undecided
    double near = 0, far = 0;          ///< median cycles of hits in the SM's own partition and in the other one
    std::vector<bool> of_sm, of_line;  ///< the partition of each SM and of each line, if there are two
    std::string why;                   ///< what the verdict rests on, for the report
};

/// Takes two maps of the same SMs and lines, measured one after the other, whose difference is noise.
/// A residual is a latency less its SM's mean and its line's mean. With one partition all residuals are noise; with
/// two, their sign says whether SM and line belong to the same partition. Throws std::invalid_argument for empty maps
/// and for maps of different sizes.
[[nodiscard]] Partitions find_partitions(const LatencyMap& first, const LatencyMap& second);

}  // namespace gputomo::deduce
