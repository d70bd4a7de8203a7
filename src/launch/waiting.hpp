// Tells kernels that may wait for memory from those that cannot.
#pragma once

#include "launch/launch.hpp"

namespace gputomo::launch {

/// Whether the kernel may wait until memory has a certain value, as blocks do that share a counter or a flag. Such a
/// kernel needs loads that see what other threads store meanwhile, or atomics that return a value. A kernel that waits
/// may never end where memory holds what an earlier run left there. True where the code cannot be read.
[[nodiscard]] bool may_wait_for_memory(const Launch& launch);

}  // namespace gputomo::launch
