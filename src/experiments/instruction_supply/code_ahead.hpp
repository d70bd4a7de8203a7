// Instruction caches into which code is fetched ahead.
#pragma once

#include "experiments/caches/cached_path.hpp"
#include "measure/code_fetch/instruction_chase.hpp"

namespace gputomo::experiments {

/// Finds out whether code that lies behind a miss comes along with it. If so, what walks said of geometry is left
/// aside: neighbours say how long lines are (deduce/neighbours.hpp), with the places at which a warp waits where they
/// are no longer than a visit sees, and shares of misses how much a cache holds.
void find_code_ahead(Context& context, InstructionChase& chase, const PathQuestion& question, PathFindings& findings,
                     Outcome& outcome);

}  // namespace gputomo::experiments
