// Code that other warps evict between any two of its steps, so that each step that enters a new fetch block waits for
// it.
#pragma once

#include "measure/kernel/compiled_kernel.hpp"

#include <cstdint>
#include <vector>

namespace gputomo::measure {

/// Cycles from one clock read to the next one in the code.
struct FetchStep {
    std::uint64_t offset = 0;  ///< of the later read in the code, bytes
    double cycles = 0;
};

/// One warp repeatedly comes to a barrier and reads the clock several times after it. Meanwhile another warp runs
/// through `sweep` bytes of code, more than the first instruction cache holds (Wong 2010, IV-K4, where seven warps
/// evict one line at any time). So none of the reads' code is in that cache; the warp itself holds only its last
/// fetch.
class FetchSteps {
public:
    struct Shape {
        int filling = 0;  ///< further instructions of a step: steps of different lengths meet different boundaries
        std::uint64_t sweep = 0;
    };
    FetchSteps(device::Device& device, Shape shape);
    /// Medians of several launches. Empty if the compiler changed the steps.
    [[nodiscard]] std::vector<FetchStep> run();
    [[nodiscard]] const CompiledKernel& compiled() const { return kernel_; }

private:
    FetchSteps(device::Device& device, Shape shape, const ptx::KernelBuilder& written);
    CompiledKernel kernel_;
    device::Buffer results_;
    std::vector<std::uint64_t> offsets_;  ///< of each step's reads but the first
    std::uint32_t threads_;
};

[[nodiscard]] ptx::KernelBuilder fetch_steps_kernel(ptx::Target target, const FetchSteps::Shape& shape,
                                                    std::uint64_t instruction_bytes);
/// Byte offsets of all clock reads but the first in each run of consecutive ones. They come from the machine code, or
/// from what was written if there is none.
[[nodiscard]] std::vector<std::uint64_t> offsets_of_later_reads(const CompiledKernel& kernel,
                                                                const ptx::KernelBuilder& written,
                                                                std::uint64_t instruction_bytes);
/// 8 bytes before compute capability 7.0 (some GPUs have control words beside them), 16 since then.
[[nodiscard]] std::uint64_t bytes_of_instruction(const device::Device& device);

}  // namespace gputomo::measure
