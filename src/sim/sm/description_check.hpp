// What a description may not say, because the SM cannot be simulated so; the memory system checks its own part.
#pragma once

#include "machine/machine.hpp"

namespace gputomo::sim {

/// Throws InputError naming the leaf.
void check_description(const machine::Machine& machine);

}  // namespace gputomo::sim
