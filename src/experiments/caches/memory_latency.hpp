// The latency of memory beyond all caches, by SM.
#pragma once

#include "experiments/caches/hierarchy.hpp"

namespace gputomo::experiments {

/// Adds paths.global.memory_latency and its range: loads of an array of `largest` bytes, which no cache holds, each SM
/// from another element on.
void add_memory_latency(Context& context, const Hierarchy& hierarchy, ChaseArray& far, std::uint64_t largest,
                        Outcome& outcome);

}  // namespace gputomo::experiments
