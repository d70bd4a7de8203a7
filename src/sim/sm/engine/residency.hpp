// How many blocks fit on an SM at once.
#pragma once

#include "costs/block_room.hpp"
#include "machine/machine.hpp"
#include "units/warp.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

namespace gputomo::sim {

/// Threads that an SM holds where the description does not say: GT200's.
inline constexpr std::int64_t kDefaultThreadsPerSm = 1024;

/// What a block asks of its SM.
struct BlockNeeds {
    std::uint64_t threads = 0;
    std::uint64_t shared_bytes = 0;
    int registers_per_thread = 0;
    std::size_t arguments = 0;
};

struct Residency {
    std::uint32_t blocks = 0;           ///< blocks that are resident on an SM at once
    std::uint64_t shared_of_block = 0;  ///< bytes that a block takes of the SM's shared memory
    costs::BlockLimits room;            ///< what blocks and warps take of an SM
    std::string why;                    ///< not empty: no block fits, for this reason
};

[[nodiscard]] Residency resident_blocks(const machine::Machine& machine, const BlockNeeds& needs);

/// Bytes of device memory for the local memory of a launch: frames of `frame_bytes` for all threads that can be
/// resident.
[[nodiscard]] std::uint64_t local_memory_of(const machine::Machine& machine, std::uint64_t frame_bytes);

}  // namespace gputomo::sim
