// Launches that put a given number of warps on every SM (Volkov 2016, 5.7).
#pragma once

#include "measure/run.hpp"

#include <optional>

namespace gputomo::measure {

/// Equal blocks on every SM.
struct BlockShape {
    int per_sm = 1;
    int warps = 1;  ///< of a block
};

/// The fewest equal blocks that hold `warps` in all; nullopt if there are none.
[[nodiscard]] std::optional<BlockShape> blocks_for(const device::Device& device, int warps, int max_threads_per_block);

/// Dynamic shared memory with which `blocks` blocks fit an SM and no further one, if a block may take that much. If it
/// may not, the grid must have no more blocks than should be resident.
[[nodiscard]] Bytes shared_for(const device::Device& device, int blocks);

/// Warps that an SM holds by its limit of threads.
[[nodiscard]] int max_warps_of(const device::Device& device);

}  // namespace gputomo::measure
