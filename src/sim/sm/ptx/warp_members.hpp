// Instructions at which several threads of one warp must be together: .sync instructions and bar.warp.sync.
#pragma once

#include "sim/exec/program.hpp"
#include "sim/sm/ptx/warp_paths.hpp"

#include <cstdint>

namespace gputomo::sim {

/// Under independent scheduling, threads whose guard is false go on alone, because those in `mask` may have to wait.
/// Returns whether the current path was split; the instruction is then issued again for `mask`.
bool leave_unguarded(WarpPaths& paths, std::uint32_t mask);

/// The live threads that the member masks of the lanes in `mask` name. Throws LaneFault for a thread that is not in its
/// own member mask.
[[nodiscard]] std::uint32_t needed_members(const WarpPaths& paths, const LaneValues& members, std::uint32_t mask);

/// Whether all threads that a .sync instruction names are at it; if not, the current path waits for them. Throws
/// LaneFault where they cannot come, because the warp's threads are not scheduled independently.
[[nodiscard]] bool members_are_there(WarpPaths& paths, const LaneValues& members, std::uint32_t mask);

}  // namespace gputomo::sim
