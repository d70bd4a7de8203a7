// Where threads go: branches, convergence barriers and barriers of the warp. What waits for other warps is left to the
// caller.
#pragma once

#include "sim/machine_code/paths.hpp"
#include "sim/machine_code/program.hpp"
#include "sim/machine_code/warp.hpp"

#include <cstddef>
#include <cstdint>

namespace gputomo::sim::machine_code {

/// The lanes of `mask` for which the instruction's own predicate holds as well.
[[nodiscard]] std::uint32_t taken_lanes(const Warp& warp, const Step& step, std::uint32_t mask);

/// Performs the instruction at step `at` of the warp's current path for the lanes `taken`. The caller performs
/// Flow::block_barrier, trap and refused itself. Returns whether the path goes on elsewhere than at the next
/// instruction.
bool follow(Warp& warp, Paths& paths, const Step& step, std::size_t at, std::uint32_t taken);

/// How a warp uses a barrier of its block.
struct BarrierUse {
    enum class Mode : std::uint8_t { sync, arrive, reduce };
    Mode mode = Mode::sync;
    std::uint32_t number = 0;
    std::uint32_t expected = 0;  ///< threads; 0: all of the block
    std::uint32_t votes = 0;     ///< lanes whose predicate holds
    unsigned reduction = 0;      ///< 0: how many, 1: all, 2: any
};
/// Throws LaneFault for a barrier that does not exist.
[[nodiscard]] BarrierUse barrier_use_of(const Warp& warp, const Step& step, std::uint32_t taken);

/// Leaves the lanes `taken` in the current path, and lets its other lanes go on behind step `at`.
void separate(Paths& paths, std::uint32_t taken, std::size_t at);

inline constexpr std::size_t kBlockBarriers = 16;

/// The result of BAR.RED: `voters` threads voted, and the predicate of `votes` of them held.
[[nodiscard]] constexpr std::uint32_t barrier_result(unsigned reduction, std::uint32_t votes, std::uint32_t voters) {
    return reduction == 0 ? votes : static_cast<std::uint32_t>(reduction == 1 ? votes == voters : votes != 0);
}

}  // namespace gputomo::sim::machine_code
