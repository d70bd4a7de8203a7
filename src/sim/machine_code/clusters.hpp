// Blocks of a cluster: whose shared memory an address names, and the barrier at which the cluster meets.
#pragma once

#include "sim/exec/program.hpp"
#include "sim/machine_code/warp.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gputomo::sim::machine_code {

/// Most blocks of a cluster that an address in shared memory can name.
inline constexpr std::uint64_t kMostClusterBlocks = 16;
/// Bytes of the window in which generic addresses name the shared memory of a cluster's blocks.
inline constexpr std::uint64_t kClusterWindowSize = kMostClusterBlocks * kWindowSize;

/// What the blocks of a cluster share.
struct ClusterState {
    std::vector<BlockState*> blocks;     ///< by rank; nullptr where one has ended or has not started
    std::uint64_t phase = 0;             ///< times that the cluster has met at its barrier
    std::uint64_t arrived = 0;           ///< threads in this phase
    std::uint64_t live = 0;              ///< threads that have not ended
    double latest = 0;                   ///< when the last warp arrived
    double met = 0;                      ///< when it met last
    std::vector<std::uint32_t> waiting;  ///< warps of the simulated GPU

    /// Whether all live threads have arrived; the next phase begins then.
    bool complete() {
        if (arrived < live || arrived == 0) return false;
        arrived = 0;
        ++phase;
        return true;
    }
};

/// A place in the shared memory of a block.
struct SharedPlace {
    BlockState* block = nullptr;
    std::uint64_t offset = 0;
};

/// The place that an address of 32 bits names: the upper 8 bits are the rank of the block in its cluster. Throws
/// LaneFault where the cluster has no such block.
[[nodiscard]] SharedPlace shared_place(Warp& warp, std::uint64_t address, int lane);
/// The host's bytes there; throws LaneFault where there are none.
[[nodiscard]] std::byte* bytes_of(const SharedPlace& place, std::uint64_t bytes, int lane);

}  // namespace gputomo::sim::machine_code
