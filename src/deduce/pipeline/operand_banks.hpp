// Finds the banks of the register file from the time of instructions with different operand registers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace gputomo::deduce {

struct OperandRead {
    int slot = 0;             ///< position among the instruction's operands
    std::uint8_t number = 0;  ///< of the register
    bool reuse = false;       ///< the compiler marked it for the operand reuse cache
};
using InstructionReads = std::vector<OperandRead>;

/// A timed loop.
struct OperandLoop {
    std::vector<InstructionReads> instructions;
    double cycles = 0;  ///< per instruction
};

/// Number of distinct registers that the instruction reads.
[[nodiscard]] std::size_t different_registers(const InstructionReads& reads);

/// A register file in which register r is in bank r % `banks`, and each bank reads `ports` registers per cycle.
struct RegisterFileModel {
    int banks = 1;
    int ports = 1;
    /// Reads of neighbouring instructions overlap: a loop takes as long as the reads of its busiest bank. If false,
    /// each instruction waits for its own operands.
    bool averaged = false;
    /// An operand marked for reuse is not read again until its slot has read another register of the same bank.
    bool reuse_cache = false;
};

struct OperandBankFit {
    bool no_conflicts = false;              ///< all loops take the same time: no operand ever waits
    std::vector<RegisterFileModel> models;  ///< the models that explain the times about equally well, the best first
    double explained = 0;                   ///< share of the variance that the best model explains
    double runner_up = 0;                   ///< share that the best model outside `models` explains
    double conflict_cycles = 0;             ///< cycles that one conflict takes, by the best model
    /// Cycles of a read at the busiest bank, where reads limit the loop; 0: they limit none.
    double read_cycles = 0;
};

/// Fits every register file up to 16 banks and 2 ports to the loops, of which there must be at least one.
[[nodiscard]] OperandBankFit operand_banks(std::span<const OperandLoop> loops);

}  // namespace gputomo::deduce
