// What a warp executes behind a barrier of its block before the barrier is complete.
//
// BAR.SYNC.DEFER_BLOCKING, which compilers emit for bar.sync, doesn't stop its warp. Arithmetic of fixed latency goes
// on, and the first other instruction waits. Measured on an H200: docs/notes/2026-11-27-behind-a-barrier.md.
#pragma once

#include "sim/machine_code/program.hpp"

namespace gputomo::sim::machine_code {

/// Whether the step is a barrier of the block that lets its warp go on.
[[nodiscard]] bool defers_waiting(const Step& step);

/// Whether the step issues behind such a barrier before all have arrived. Only arithmetic does, and only where its
/// control field names no dependence barrier for its result or its operands. Products of warp groups wait.
[[nodiscard]] bool passes_barriers(const Step& step);

}  // namespace gputomo::sim::machine_code
