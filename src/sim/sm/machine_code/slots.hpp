// What the control fields and operands of machine code ask for: issue slots, stalls, registers, dependence barriers.
#pragma once

#include "costs/product_groups.hpp"
#include "costs/register_ports.hpp"
#include "machine/execution.hpp"
#include "sass/instruction.hpp"
#include "sim/sm/units/costs.hpp"

#include <cstdint>

namespace gputomo::sim {

/// Issue slots of an instruction that accesses no memory.
[[nodiscard]] double compute_slots(const sass::Instruction& instruction, const Cost& cost,
                                   const costs::RegisterFile& file);

/// The registers that the instruction reads through the ports of the register file.
[[nodiscard]] costs::OperandReads operand_reads(const sass::Instruction& instruction);

/// The registers that an arithmetic instruction writes which waits beside products of warp groups; 0 for others. One
/// that writes predicates alone counts as one register: on an H200 it waits nearly as long.
[[nodiscard]] std::uint8_t arithmetic_results(const sass::Instruction& instruction);

/// Cycles from an instruction's issue to that of its warp's next one. One that yields leaves the next cycle to other
/// warps (Huerta 2025, 2503.20481). YIELD itself, which loops that wait for others have, takes longer.
[[nodiscard]] std::uint8_t stall_cycles(const sass::Instruction& instruction, const machine::Issue& issue);

/// What DEPBAR and WARPGROUP.DEPBAR wait for.
struct BarrierWait {
    int barrier = -1;          ///< -1: none; costs::kProductGroups: the groups of matrix products
    std::uint32_t left = 0;    ///< instructions of `barrier` that may still be in flight
    std::uint32_t others = 0;  ///< a bit for each dependence barrier that has to be released
};
[[nodiscard]] BarrierWait barrier_wait(const sass::Instruction& instruction);

}  // namespace gputomo::sim
