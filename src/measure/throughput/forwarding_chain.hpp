// Latency of special functions and loads from shared memory to an add that waits for them (Volkov 2016, 4.7).
#pragma once

#include "measure/kernel/compiled_kernel.hpp"
#include "measure/kernel/doubled_timing.hpp"
#include "measure/throughput/co_issue.hpp"

namespace gputomo::measure {

/// A chain by one thread in which each of the instruction's results is added to, and each sum is the next one's
/// operand.
class ForwardingChain {
public:
    /// `beside` is sfu or shared.
    ForwardingChain(device::Device& device, CoIssued other);
    /// Cycles of both together.
    [[nodiscard]] double cycles();
    [[nodiscard]] const CompiledKernel& kernel() const { return kernel_; }

private:
    static CompiledKernel compile(device::Device& device, CoIssued other);

    CompiledKernel kernel_;
    Stamps stamps_;
};

/// Arguments: stamps (u64), zero (f32, which is -0). `moves_vanish`: addresses in shared memory are moved to registers
/// of their own, which a compiler undoes.
[[nodiscard]] ptx::KernelBuilder forwarding_kernel(ptx::Target target, CoIssued other, bool moves_vanish);

}  // namespace gputomo::measure
