// What each instruction of a kernel costs, as the simulated GPU takes it, in the form that predictions use.
#pragma once

#include "launch/profile/launch_profile.hpp"
#include "machine/machine.hpp"
#include "sim/machine_code/program.hpp"

#include <vector>

namespace gputomo::launch {

/// Fills `units`, `steps` and the assumptions about operations that no scan timed and that are in `executed`.
void add_steps(const sim::machine_code::MachineProgram& program, const machine::Machine& machine, LaunchProfile& to);

}  // namespace gputomo::launch
