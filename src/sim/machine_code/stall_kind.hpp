// What a warp waits for at an instruction of machine code, in a profiler's words.
#pragma once

#include "costs/stalls.hpp"
#include "sim/machine_code/program.hpp"

namespace gputomo::sim::machine_code {

/// Follows from the instruction table alone: from what executes the instruction, and which memory it accesses.
[[nodiscard]] costs::StallKind stall_kind_of(const Step& step);

}  // namespace gputomo::sim::machine_code
