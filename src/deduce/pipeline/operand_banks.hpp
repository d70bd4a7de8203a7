// Banks of the register file, from how long instructions with different operands take.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace gputomo::deduce {

struct OperandRead {
    int slot = 0;             ///< place among the instruction's operands
    std::uint8_t number = 0;  ///< of the register
    bool reuse = false;       ///< marked by the compiler to be kept at its place for later instructions
};
using InstructionReads = std::vector<OperandRead>;

/// A loop of instructions that each read these registers.
struct OperandLoop {
    std::vector<InstructionReads> instructions;
    double cycles = 0;  ///< of one instruction
};

/// Registers that different operands of the instruction name.
[[nodiscard]] std::size_t different_registers(const InstructionReads& reads);

/// Registers dealt to `banks` by number, of which each gives `ports` at once.
struct RegisterFileModel {
    int banks = 1;
    int ports = 1;
    /// Reads of neighbouring instructions even out: a loop takes as long as its busiest bank has to give, no matter to
    /// which instruction. Otherwise each instruction waits until its own operands are there.
    bool averaged = false;
    /// Registers that are marked to be kept are not read again, as long as nothing else of their bank was read for
    /// their place among the operands.
    bool reuse_cache = false;
};

struct OperandBankFit {
    bool no_conflicts = false;              ///< all loops took as long as each other: operands never wait
    std::vector<RegisterFileModel> models;  ///< that explain the times about equally well, the best first
    double explained = 0;                   ///< part of the variance, by the best one
    double runner_up = 0;                   ///< the same of the best of those that are not among `models`
    double conflict_cycles = 0;             ///< cycles that one more turn at a bank takes, by the best one
};

[[nodiscard]] OperandBankFit operand_banks(std::span<const OperandLoop> loops);

}  // namespace gputomo::deduce
