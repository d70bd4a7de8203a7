// Tells kernels that may wait for memory from those that cannot.
#pragma once

#include "launch/launch.hpp"

namespace gputomo::launch {

/// Tells whether the kernel may wait until memory has a certain value, as blocks do that share a counter. To wait, a
/// kernel needs loads that see what other threads store meanwhile, or atomics that return a value. A kernel that waits
/// may never end where memory holds what an earlier run left there. Code that cannot be read counts as such a kernel.
[[nodiscard]] bool may_wait_for_memory(const Launch& launch);

}  // namespace gputomo::launch
