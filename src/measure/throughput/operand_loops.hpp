// Loops of multiply-adds whose operands are chosen among four dozen registers.
#pragma once

#include "deduce/pipeline/operand_banks.hpp"
#include "measure/kernel/compiled_kernel.hpp"

#include <array>
#include <vector>

namespace gputomo::measure {

/// Of the registers of the kernel, those that an instruction multiplies and the one that it adds the product to.
using OperandChoice = std::array<int, 3>;

/// Instructions of a loop, over and over; each adds to a register of its own, so that they need not wait for each
/// other.
using OperandLoopChoice = std::array<OperandChoice, 4>;

/// One kernel with a loop for each choice of registers. Enough warps run it to fill the issue slots, so that what an
/// instruction waits for its operands shows in the time of all.
class OperandLoops {
public:
    explicit OperandLoops(device::Device& device);
    /// Without the loops in which the compiler added instructions; empty where the machine code does not show which
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
