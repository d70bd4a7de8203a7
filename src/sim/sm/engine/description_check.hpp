// Refuses descriptions that the SM's model cannot simulate; the memory system checks its own part.
#pragma once

#include "machine/machine.hpp"

namespace gputomo::sim {

/// Throws InputError naming the leaf, what it says and what is expected.
void check_description(const machine::Machine& machine);

}  // namespace gputomo::sim
