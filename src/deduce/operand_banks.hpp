// Banks of the register file, from how long instructions with different operands take.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace gputomo::deduce {

/// A loop of instructions, each of which reads registers of these numbers.
struct OperandLoop {
    std::vector<std::vector<std::uint8_t>> operands;  ///< of each instruction, different ones
    double cycles = 0;                                ///< of one instruction
};

/// Registers dealt to `banks` by number, of which each gives `ports` at once.
struct OperandFile {
    int banks = 1;
    int ports = 1;
};

struct OperandFindings {
    bool alike = false;              ///< all loops of two operands took as long as each other, and all of three: operands never wait
    std::vector<OperandFile> files;  ///< that explain the times about equally well, the best first
    double explained = 0;            ///< part of the variance, by the best one
    double runner_up = 0;            ///< the same of the best of those that are not among `files`
    double conflict = 0;             ///< cycles that one more turn at a bank takes
};

[[nodiscard]] OperandFindings operand_banks(std::span<const OperandLoop> loops);

}  // namespace gputomo::deduce
