// How many issue slots an instruction of machine code takes.
#pragma once

#include "sim/machine_code/program.hpp"
#include "sim/sm/costs.hpp"
#include "sim/sm/operands.hpp"

#include <cstddef>

namespace gputomo::sim {

/// Issue slots of an instruction that accesses no memory, with those that its register bank conflicts add.
[[nodiscard]] double compute_slots(const machine_code::MachineProgram& program, std::size_t at, const Cost& cost,
                                   const OperandBanks& file);

}  // namespace gputomo::sim
