// Ifs within each other: what each further level of divergence costs.
#pragma once

#include "measure/kernel/compiled_kernel.hpp"

namespace gputomo::measure {

/// Ifs within each other, kNests deep: each thread goes as far in as its number says and runs the rest of each level on
/// its way out, so that all join in the innermost if that they share.
class NestedIfs {
public:
    static constexpr int kNests = 16;
    explicit NestedIfs(device::Device& device);
    /// Cycles of the whole nest, where `splits` of its branches, the outermost ones, each lose one thread and all
    /// others go in to the end.
    [[nodiscard]] double cycles(int splits);
    [[nodiscard]] const CompiledKernel& compiled() const { return kernel_; }
    /// Whether each level is what its branch falls through to, as written.
    [[nodiscard]] bool as_written() const;

private:
    CompiledKernel kernel_;
    device::Buffer depths_;
    device::Buffer stamps_;
};

[[nodiscard]] ptx::KernelBuilder nested_ifs_kernel(ptx::Target target);

}  // namespace gputomo::measure
