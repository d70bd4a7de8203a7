// A loop in which the threads of one warp wait for each other (Wong 2010, Listing 4).
#pragma once

#include "measure/kernel/compiled_kernel.hpp"

namespace gputomo::measure {

/// Thread t of a warp spins until a shared counter is t, and then increments it. The kernel bounds the loop, so that a
/// warp that can never get through ends too.
class SpinWithinWarp {
public:
    explicit SpinWithinWarp(device::Device& device);
    /// Threads of the warp that left the loop because the counter had reached their number.
    [[nodiscard]] int threads_that_leave();
    [[nodiscard]] const CompiledKernel& compiled() const { return kernel_; }

private:
    CompiledKernel kernel_;
    device::Buffer results_;
};

[[nodiscard]] ptx::KernelBuilder spin_within_warp_kernel(ptx::Target target);

}  // namespace gputomo::measure
