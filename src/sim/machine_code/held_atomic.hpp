// Atomics on global memory in two steps: the warp reads operands when it issues one, and memory performs it later, when
// those before it have been performed.
#pragma once

#include "sim/machine_code/program.hpp"

#include <array>
#include <cstdint>

namespace gputomo::sim::machine_code {

class Warp;
struct BlockState;

/// An atomic whose operands were read.
struct HeldAtomic {
    std::uint32_t lanes = 0;  ///< whose atomics memory has not performed yet
    std::array<std::uint64_t, 32> addresses{}, first{}, second{};
};

/// Whether the instruction is an atomic on global memory that each thread performs on one number.
[[nodiscard]] bool can_be_held(const Step& step);
/// Reads the operands for the lanes of `mask`. Leaves addresses in the block's state; throws LaneFault where there is
/// no memory.
[[nodiscard]] HeldAtomic hold_atomic(Warp& warp, const Step& step, std::uint32_t mask);
/// Whether the instruction loads words of global memory, which can wait behind atomics on them.
[[nodiscard]] bool can_wait_behind_atomics(const Step& step);
/// The addresses of a load for the lanes of `mask`.
[[nodiscard]] HeldAtomic hold_load(Warp& warp, const Step& step, std::uint32_t mask);
/// Loads for `lanes` what memory or the SM's own cache shows now.
void load(HeldAtomic& held, Warp& warp, const Step& step, std::uint32_t lanes);
/// Performs it for `lanes`, the lowest first. The warp gets the results; nullptr: it has ended.
void perform(HeldAtomic& held, BlockState& block, Warp* warp, const Step& step, std::uint32_t lanes);

}  // namespace gputomo::sim::machine_code
