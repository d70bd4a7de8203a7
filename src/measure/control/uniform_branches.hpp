// Branches that a whole warp takes or does not take (Volkov 2016, 3.7).
#pragma once

#include "measure/kernel/compiled_kernel.hpp"

namespace gputomo::measure {

/// Cycles of one branch that all threads of a warp take, or that no thread takes (Volkov 2016, 3.7).
class UniformBranches {
public:
    UniformBranches(device::Device& device, bool taken);
    [[nodiscard]] double latency();
    [[nodiscard]] const CompiledKernel& few() const { return few_; }
    [[nodiscard]] const CompiledKernel& many() const { return many_; }
    /// The failed check with its listing, for kernels that are not as_written().
    [[nodiscard]] results::CodeCheck layout() const;
    /// Whether the compiler left the branches as they were written.
    [[nodiscard]] bool as_written() const;

private:
    [[nodiscard]] double cycles_of(CompiledKernel& kernel);
    bool taken_;
    CompiledKernel few_;
    CompiledKernel many_;
    device::Buffer stamps_;
};

[[nodiscard]] ptx::KernelBuilder uniform_branches_kernel(ptx::Target target, bool taken, int branches);

}  // namespace gputomo::measure
