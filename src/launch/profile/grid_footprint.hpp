// Estimates from a few blocks how many different bytes all blocks of a grid touch.
#pragma once

#include "launch/memory_range.hpp"
#include "launch/profile/launch_profile.hpp"
#include "machine/machine.hpp"
#include "units/number_set.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <random>
#include <vector>

namespace gputomo::launch {

using Sectors = NumberSet;

/// Sectors of global memory that a block reads and writes.
struct BlockSectors {
    Sectors read, written;
};

/// Executes a block; false where time ran out.
using SectorsOf = std::function<bool(std::uint64_t block, BlockSectors& into)>;

struct GridShape {
    std::uint64_t x = 1, y = 1, z = 1;
    [[nodiscard]] std::uint64_t count() const { return x * y * z; }
};

/// Sectors of `kTouchedSectorBytes` that the last cache of a GPU fetches together.
[[nodiscard]] std::uint64_t sectors_fetched_together(const machine::Machine& machine);

/// Executes probes and their partners. A sector that a probe shares with a far block of its row belongs to the whole
/// row; columns and the whole grid have such partners too. One that it shares with a neighbour alone belongs to two
/// blocks. Each sector counts as one over the number of blocks that share it. A buffer's size limits what is touched in
/// it.
[[nodiscard]] GridFootprint footprint_of_grid(const GridShape& grid, const std::vector<MemoryRange>& buffers,
                                              const SectorsOf& sectors_of, std::mt19937_64& random,
                                              std::uint64_t together = 1);

/// The footprint where all blocks were executed.
[[nodiscard]] GridFootprint exact_footprint(const BlockSectors& all, std::uint64_t together = 1);

}  // namespace gputomo::launch
