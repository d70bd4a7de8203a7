// The shape of a tag array, read from a cache or a TLB and checked.
#pragma once

#include "machine/machine.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace gputomo::sim {

/// A TLB is a tag array whose block is an entry's span, in one sector.
struct Geometry {
    std::uint32_t block_shift = 0;   ///< log2 of the bytes that share one tag: line, or span of a TLB entry
    std::uint32_t sector_shift = 0;  ///< log2 of the bytes filled by one miss
    std::vector<std::uint32_t> set_ways;
    std::vector<std::uint64_t> index_masks;  ///< one mask of address bits per set bit; empty: block number modulo sets
    std::string policy;
    std::vector<double> way_odds;
    std::vector<std::uint32_t> dealt;  ///< the set by block number modulo all blocks; empty for other index functions
    std::uint64_t data_lines = 0;      ///< lines with data, where there are fewer of them than tags; else 0
};

/// Sets come from set_ways, or from ways and sets, one of which may follow from the capacity (entries of a TLB).
/// Without `index` the set is the line number modulo the sets. Without `sector` a line is one sector. Line, sector and
/// span are powers of two. A capacity below line times all ways means that there are more tags than data lines. Throws
/// InputError naming the leaf under `where` ("caches.l1").
[[nodiscard]] Geometry geometry_of(const machine::Cache& cache, const std::string& where);
[[nodiscard]] Geometry geometry_of(const machine::Tlb& tlb, const std::string& where);

}  // namespace gputomo::sim
