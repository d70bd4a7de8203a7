// How far a warp can run ahead of its stores where no description says so.
#pragma once

namespace gputomo::machine {

/// Stands for a missing `issue.store_queue`. A smaller one would make streams of stores stall earlier.
inline constexpr double kAssumedStoreQueue = 1000;

}  // namespace gputomo::machine
