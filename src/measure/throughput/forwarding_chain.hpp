// Latency from a special function or a shared-memory load to a dependent add (Volkov 2016, 4.7).
#pragma once

#include "measure/kernel/compiled_kernel.hpp"
#include "measure/kernel/doubled_timing.hpp"
#include "measure/throughput/co_issue.hpp"

namespace gputomo::measure {

/// A chain by one thread: each result of the instruction is an operand of an add, and each sum is the next
/// instruction's operand.
class ForwardingChain {
public:
    /// `other` is sfu or shared.
    ForwardingChain(device::Device& device, CoIssued other);
    /// Cycles of one instruction and one add together.
    [[nodiscard]] double cycles();
    [[nodiscard]] const CompiledKernel& kernel() const { return kernel_; }

private:
    static CompiledKernel compile(device::Device& device, CoIssued other);

    CompiledKernel kernel_;
    Stamps stamps_;
};

/// Arguments: stamps (u64), zero (f32, which is -0). `moves_vanish`: addresses in shared memory are moved to registers
/// of their own, which a compiler removes again.
[[nodiscard]] ptx::KernelBuilder forwarding_kernel(ptx::Target target, CoIssued other, bool moves_vanish);

}  // namespace gputomo::measure
