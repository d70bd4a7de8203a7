// Writes a geometry that explains a cache into its findings.
#pragma once

#include "deduce/cache/geometry.hpp"
#include "deduce/cache/index.hpp"

#include <cstdint>
#include <vector>

namespace gputomo::deduce::cache {

/// Line, sets, ways and capacity. `ways`: those of each set that hold data. Ways that the chase's own code occupies are
/// added: its lines follow each other, so that each set has equally many of them, and some sets one more.
void write_size(CacheFindings& findings, const CacheQuestion& question, std::uint64_t line,
                const std::vector<std::uint64_t>& ways, double confidence);

/// Name of the index, and its bits or masks.
void write_index(CacheFindings& findings, const Index& index);

}  // namespace gputomo::deduce::cache
