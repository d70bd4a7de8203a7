// Loops of multiply-adds whose operands are chosen among a dozen registers.
#pragma once

#include "deduce/operand_banks.hpp"
#include "experiments/compiled_kernel.hpp"

#include <array>
#include <vector>

namespace gputomo::experiments {

/// Which of the registers a loop's instructions read: two or three different ones.
using OperandChoice = std::vector<int>;

/// One kernel with a loop for each choice: register 0 with each other one, and with each two of them. Enough warps run it to fill the issue slots, so that what an
/// instruction waits for its operands shows in the time of all.
class OperandLoops {
public:
    explicit OperandLoops(device::Device& device);
    /// Empty where the machine code does not show which registers each loop reads.
    [[nodiscard]] std::vector<deduce::OperandLoop> run();
    [[nodiscard]] const CompiledKernel& compiled() const { return kernel_; }

private:
    [[nodiscard]] std::vector<double> cycles_of(std::uint32_t turns);

    std::vector<OperandChoice> choices_;
    CompiledKernel kernel_;
    device::Buffer results_;
    std::uint32_t threads_;
};

[[nodiscard]] ptx::KernelBuilder operand_loops_kernel(ptx::Target target);

}  // namespace gputomo::experiments
