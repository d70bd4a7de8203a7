// Which SMs or schedulers share each instruction cache: code of two blocks competes for it.
#pragma once

#include "experiments/caches/cached_path.hpp"
#include "measure/code_fetch/instruction_chase.hpp"

namespace gputomo::experiments {

/// Bytes from one visit to the next that visit each line of the cache once. Only the first visit of a line can miss.
[[nodiscard]] std::uint64_t step_through(const PathLevel& cache, const PathQuestion& question);

/// Adds caches.*.scope of the caches that no other path reported: which SMs' code evicts that of SM 0 (Wong 2010,
/// IV-K1), or the code of which of its warps.
void find_code_scopes(Context& context, InstructionChase& chase, const PathQuestion& question,
                      const PathFindings& findings, Outcome& outcome);

}  // namespace gputomo::experiments
