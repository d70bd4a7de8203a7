// Launches that put a wanted number of warps on every SM (Volkov 2016, 5.7).
#pragma once

#include "measure/run.hpp"

#include <optional>

namespace gputomo::measure {

struct BlockShape {
    int per_sm = 1;
    int warps = 1;  ///< of a block
};

/// The fewest equal blocks that hold `warps`; nullopt where none do.
[[nodiscard]] std::optional<BlockShape> blocks_for(const device::Device& device, int warps, int max_threads_per_block);

/// Dynamic shared memory with which `blocks` fit an SM and not one more, as far as one block may take so much; where it
/// may not, the grid has no more blocks than are meant to be there.
[[nodiscard]] Bytes shared_for(const device::Device& device, int blocks);

/// Of an SM.
[[nodiscard]] int max_warps_of(const device::Device& device);

}  // namespace gputomo::measure
