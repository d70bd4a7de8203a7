// Partitions of a cache: each serves a part of the lines, and some SMs sooner than others.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace gputomo::deduce {

/// Cycles by SM and line; all rows of one length.
using LatencyMap = std::vector<std::vector<double>>;

struct Partitions {
    std::size_t count = 0;             ///< 0: undecided
    double near = 0, far = 0;          ///< cycles; medians of an SM's own partition and of the other
    std::vector<bool> of_sm, of_line;  ///< which of two
    std::string why;                   ///< what was seen
};

/// From two maps of the same SMs and lines, measured one after the other: what differs between them is noise. What the
/// mean of an SM and the mean of a line leave unexplained is nothing for one partition; for two it has one sign where
/// SM and line are of the same, the other where not. Throws std::invalid_argument for maps of different or no size.
[[nodiscard]] Partitions find_partitions(const LatencyMap& first, const LatencyMap& second);

}  // namespace gputomo::deduce
