// Nested ifs: what each branch that splits its warp costs, its reconvergence included.
#pragma once

#include "measure/kernel/compiled_kernel.hpp"

namespace gputomo::measure {

/// Ifs nested kNests deep. Each thread enters as many levels as its number says and runs the rest of each level on its
/// way out. So threads rejoin in the innermost if that they share.
class NestedIfs {
public:
    /// Depth of the nest. A deeper one would exceed an instruction cache of 4 KiB.
    static constexpr int kNests = 16;
    explicit NestedIfs(device::Device& device);
    /// Cycles of the whole nest if each of the outermost `splits` branches splits off one thread and all other threads
    /// go to the innermost level.
    [[nodiscard]] double cycles(int splits);
    [[nodiscard]] const CompiledKernel& compiled() const { return kernel_; }
    /// Whether each level's branch falls through to it, as written.
    [[nodiscard]] bool as_written() const;

private:
    CompiledKernel kernel_;
    device::Buffer depths_;
    device::Buffer stamps_;
};

[[nodiscard]] ptx::KernelBuilder nested_ifs_kernel(ptx::Target target);

}  // namespace gputomo::measure
