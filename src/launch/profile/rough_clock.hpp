// The rough clock that orders blocks which are executed together without timing.
#pragma once

#include "machine/machine.hpp"
#include "sim/machine_code/program.hpp"

#include <vector>

namespace gputomo::launch {

/// Cycles of each instruction by its place in the code. An instruction takes its stall count. One that reads global
/// memory takes the latency of DRAM as well, or of the L2 where it is an atomic.
[[nodiscard]] std::vector<float> rough_cycles(const sim::machine_code::MachineProgram& program,
                                              const machine::Machine& machine);

}  // namespace gputomo::launch
