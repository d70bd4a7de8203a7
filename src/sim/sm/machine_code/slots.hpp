// How many issue slots an instruction of machine code takes, and which registers it reads.
#pragma once

#include "costs/register_ports.hpp"
#include "sass/instruction.hpp"
#include "sim/sm/units/costs.hpp"

namespace gputomo::sim {

/// Issue slots of an instruction that accesses no memory.
[[nodiscard]] double compute_slots(const sass::Instruction& instruction, const Cost& cost,
                                   const costs::RegisterFile& file);

/// The registers that the instruction reads through the ports of the register file.
[[nodiscard]] costs::OperandReads operand_reads(const sass::Instruction& instruction);

}  // namespace gputomo::sim
