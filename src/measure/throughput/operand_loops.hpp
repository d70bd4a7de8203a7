// Loops of multiply-adds whose operands are chosen among four dozen registers.
#pragma once

#include "deduce/pipeline/operand_banks.hpp"
#include "measure/kernel/compiled_kernel.hpp"

#include <array>
#include <vector>

namespace gputomo::measure {

/// Numbers of the kernel's registers: the two factors of an instruction, and the addend.
using OperandChoice = std::array<int, 3>;

/// Instructions of a loop. Each adds to a register of its own, so that they need not wait for each other.
using OperandLoopChoice = std::array<OperandChoice, 4>;

/// One kernel with a loop for each choice of registers. Its warps fill the issue slots, so that the time for which an
/// instruction waits for its operands adds to the total.
class OperandLoops {
public:
    explicit OperandLoops(device::Device& device);
    /// Leaves out loops to which the compiler added instructions. Empty if the machine code does not show which
    /// registers each loop reads.
    [[nodiscard]] std::vector<deduce::OperandLoop> run();
    [[nodiscard]] const CompiledKernel& compiled() const { return kernel_; }

private:
    [[nodiscard]] std::vector<double> cycles_of(std::uint32_t iterations);

    std::vector<OperandLoopChoice> choices_;
    CompiledKernel kernel_;
    device::Buffer results_;
    std::uint32_t threads_;
};

[[nodiscard]] ptx::KernelBuilder operand_loops_kernel(ptx::Target target);

}  // namespace gputomo::measure
