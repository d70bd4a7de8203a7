// Threads that an SM holds at once.
#pragma once

#include "machine/machine.hpp"

namespace gputomo::machine {

/// Where that is not described, those of the largest block, which an SM holds at least.
[[nodiscard]] inline const Integer& threads_of_sm(const Topology& topology) {
    return topology.max_threads_per_sm ? topology.max_threads_per_sm : topology.max_threads_per_block;
}

}  // namespace gputomo::machine
