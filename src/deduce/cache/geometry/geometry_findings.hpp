// Writes a geometry that explains a cache into its findings.
#pragma once

#include "deduce/cache/arrays/array_capacity.hpp"
#include "deduce/cache/chase/question.hpp"
#include "deduce/cache/findings/findings.hpp"
#include "deduce/cache/sets/index.hpp"
#include "deduce/cache/sets/line.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace gputomo::deduce::cache {

/// Adds a remark that is not there yet. Always false, so that a failing step can return it.
bool add_remark(CacheFindings& findings, std::string text);

/// The sector, or only the range of its size where one miss filled the whole window. False, and a remark, where no load
/// missed.
bool write_sector(CacheFindings& findings, const CacheQuestion& question, const SectorSize& sector);

/// A capacity of which only the range is known.
void write_bracket(CacheFindings& findings, const Bracket& capacity);

/// Line, sets, ways and capacity. `ways`: those of each set that hold data. Ways that the chase's own code occupies are
/// added: its lines follow each other, so that each set has equally many of them, and some sets one more.
void write_size(CacheFindings& findings, const CacheQuestion& question, std::uint64_t line,
                const std::vector<std::uint64_t>& ways, double confidence);

/// The capacity of a cache with more tags than data. `array`: sizes that fit and that overflow. `sets`: for the remark.
void write_data(CacheFindings& findings, const Bracket& array, const std::string& sets, double confidence);

/// Name of the index, and its bits or masks.
void write_index(CacheFindings& findings, const Index& index);

}  // namespace gputomo::deduce::cache
