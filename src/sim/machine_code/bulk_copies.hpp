// What bulk copies have in common, whether they move rows of bytes or boxes of tensors.
#pragma once

#include "sim/machine_code/clusters.hpp"
#include "sim/machine_code/transfer.hpp"
#include "sim/machine_code/warp.hpp"

#include <cstddef>
#include <cstdint>

namespace gputomo::sim::machine_code {

/// Observers see the global memory that a bulk copy touches in pieces of this many bytes.
inline constexpr std::uint64_t kPieceBytes = 32;

/// A pair of uniform registers as an address of 64 bits.
[[nodiscard]] std::uint64_t uniform_pair(const Warp& warp, std::size_t first);

/// The host's bytes behind global memory, or behind the kernel's parameters; throws LaneFault where there are none.
/// Tells the observer of the access.
[[nodiscard]] std::byte* touched_bytes(Warp& warp, std::uint64_t address, std::uint64_t bytes, bool writes);

/// Reports bytes to the barrier at this address of shared memory, and notes it in the block's transfer.
void signal_barrier(Warp& warp, std::uint64_t barrier, std::uint64_t bytes);

/// How UBLKRED and UTMAREDG combine an element of memory with one of shared memory.
enum class Combine : std::uint8_t { add, min, max, increment, decrement, and_, or_, xor_ };
enum class ElementType : std::uint8_t { u8, u16, u32, s32, u64, s64, f16, f32, f32_flushed, f64, bf16 };

[[nodiscard]] std::uint64_t bytes_of(ElementType type);
/// Whether the operation exists for the type.
[[nodiscard]] bool combines(Combine how, ElementType type);
/// Combines the element at `to` with the one at `from`.
void combine(Combine how, ElementType type, std::byte* to, const std::byte* from);

}  // namespace gputomo::sim::machine_code
