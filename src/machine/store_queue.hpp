// How far a warp can run ahead of its stores.
#pragma once

namespace gputomo::machine {

/// Cycles of stores that the queue of an SM holds. A store that has not left after them stalls its warp. No description
/// has a value for it; a smaller one would make streams of stores stall earlier.
inline constexpr double kStoreQueueCycles = 1000;

}  // namespace gputomo::machine
