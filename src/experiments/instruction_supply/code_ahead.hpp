// Instruction caches into which misses prefetch code.
#pragma once

#include "experiments/caches/cached_path.hpp"
#include "measure/code_fetch/instruction_chase.hpp"

namespace gputomo::experiments {

/// Finds out whether a miss prefetches the code after it. If so, the geometries in `findings` are replaced. Neighbours
/// of a line show its size (deduce/cache/levels/neighbours.hpp), for short lines together with the places at which a
/// warp waits. Shares of misses show the capacity.
void find_code_ahead(Context& context, InstructionChase& chase, const PathQuestion& question, PathFindings& findings,
                     Outcome& outcome);

}  // namespace gputomo::experiments
