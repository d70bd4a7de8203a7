// What loads, stores, atomics and texture fetches do to registers and memory; sim/sm says when they complete.
#pragma once

#include "sim/exec/program.hpp"
#include "sim/memory/device_memory.hpp"
#include "sim/exec/texture.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace gputomo::sim {

/// The address of each lane, and the host's bytes behind it. Only the lanes of the instruction's mask are valid.
struct LaneData {
    std::array<std::uint64_t, kWarpSize> addresses{};
    std::array<std::byte*, kWarpSize> bytes{};
};

/// The memories that the threads of a warp can name.
struct DataSpaces {
    std::span<std::byte> shared;      ///< of the block
    std::span<std::byte> local;       ///< frames of the 32 threads, one after the other
    std::uint64_t local_bytes = 0;    ///< of one frame
    std::span<std::byte> parameters;  ///< of the kernel
    const DeviceMemory& global;
};

/// One instruction of a warp, performed by the lanes in `mask`.
struct WarpInstruction {
    const Operation& op;
    LaneValues* registers = nullptr;  ///< the warp's slots
    std::uint32_t mask = 0;
};

/// Bytes that each thread touches: one channel of a texel, or one element of a prefetch.
[[nodiscard]] std::uint32_t bytes_of(const Operation& op);

/// The space that a generic address points into. The first lane's address decides; resolve() refuses a lane that points
/// elsewhere.
[[nodiscard]] ptx::Space space_of(const WarpInstruction& instruction);

/// Finds the bytes of each lane. Throws LaneFault for an illegal or misaligned address.
void resolve(const WarpInstruction& instruction, ptx::Space space, const DataSpaces& spaces, LaneData& data);

/// Performs a load, store or atomic on resolved lanes.
void move_data(const WarpInstruction& instruction, const LaneData& data);

/// Performs a texture fetch and leaves the texels' addresses in `data`. A read outside a linear texture gives zero.
/// Throws LaneFault for a handle that names no texture.
void fetch_texels(const WarpInstruction& instruction, const TextureTable& textures, const DeviceMemory& memory,
                  LaneData& data);

}  // namespace gputomo::sim
