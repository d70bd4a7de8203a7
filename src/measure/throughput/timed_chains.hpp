// The kernels of arithmetic latency, throughput and units: chains of n and 2n operations between clock reads, and
// loops of chains.
#pragma once

#include "measure/kernel/compiled_kernel.hpp"
#include "measure/kernel/doubled_timing.hpp"
#include "measure/throughput/chain_code.hpp"

namespace gputomo::measure {

/// Initial operands of chains on the device, and room for their results.
class ChainMemory {
public:
    ChainMemory(device::Device& device, std::span<const std::uint64_t> operands);
    [[nodiscard]] device::Address operands() const { return buffer_.address(); }
    [[nodiscard]] device::Address results() const { return buffer_.address() + half_; }

private:
    std::uint64_t half_;
    device::Buffer buffer_;
};

/// One or several dependent chains of one operation in every thread, timed as n against 2n.
class DoubledChain {
public:
    /// `length` is n for each chain, an even number; `chains` are the independent chains of a thread.
    struct Shape {
        int length = 128;
        int chains = 1;
    };
    DoubledChain(device::Device& device, const TimedOperation& operation, Shape shape);

    /// Cycles that n further operations of every chain and warp took: last end less first start for 2n, less the same
    /// for n.
    [[nodiscard]] double cycles_of_n(int threads);
    /// Cycles per dependent operation of a single thread.
    [[nodiscard]] double latency();
    /// Thread operations per cycle with `warps` warps of `warp_size` threads on one SM.
    [[nodiscard]] double throughput(int warps, int warp_size);

    [[nodiscard]] const CompiledKernel& compiled() const { return kernel_; }
    [[nodiscard]] Shape shape() const { return shape_; }

private:
    Shape shape_;
    CompiledKernel kernel_;
    ChainMemory memory_;
    Stamps stamps_;
};

/// Operations of one kind in the body of a loop.
struct LoopPart {
    TimedOperation operation;
    int count = 0;  ///< operations of a thread and loop iteration, all chains together; an even multiple of `chains`
    int chains = 1;
};

/// Chains of one or several operations as the body of a loop, for rates.
class ChainLoop {
public:
    /// The parts are interleaved evenly.
    ChainLoop(device::Device& device, std::vector<LoopPart> parts);
    /// SM cycles of one loop iteration of one warp, with `warps` warps of `warp_size` threads on one SM.
    [[nodiscard]] double cycles_per_iteration(int warps, int warp_size);
    /// Thread operations of the first part per cycle.
    [[nodiscard]] double throughput(int warps, int warp_size);
    /// Whether the machine code, if there is any, has all loads of idle_operation(). Compilers may drop loads of what
    /// was loaded before.
    [[nodiscard]] bool keeps_idle_loads() const;
    [[nodiscard]] const CompiledKernel& compiled() const { return kernel_; }

private:
    [[nodiscard]] double cycles_of(std::uint32_t iterations, int threads);

    std::vector<LoopPart> parts_;
    std::uint32_t iterations_ = 0;  ///< of a run that is long enough; 0 before the first
    CompiledKernel kernel_;
    ChainMemory memory_;
    Stamps stamps_;
};

/// Warps of a block that the kernel's registers and the device allow; at least one.
[[nodiscard]] int most_warps(const CompiledKernel& kernel, int warp_size);

/// The kernels that ChainLoop and DoubledChain launch, for tests of their code.
[[nodiscard]] ptx::KernelBuilder chain_loop_kernel(ptx::Target target, std::span<const LoopPart> parts);
[[nodiscard]] ptx::KernelBuilder doubled_chain_kernel(ptx::Target target, const TimedOperation& operation,
                                                      DoubledChain::Shape shape);

}  // namespace gputomo::measure
