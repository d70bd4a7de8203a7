// The kernel behind arithmetic latency and throughput: n and 2n operations between clock reads, several warps, several passes.
#pragma once

#include "experiments/compiled_kernel.hpp"
#include "experiments/doubled_timing.hpp"
#include "experiments/operations.hpp"

namespace gputomo::experiments {

/// One or several dependent chains of one operation in every thread, timed as n against 2n.
class DoubledChain {
public:
    /// `length` is n per chain, even; `chains` independent chains a thread.
    struct Shape {
        int length = 128;
        int chains = 1;
    };
    DoubledChain(device::Device& device, const TimedOperation& operation, Shape shape);

    /// Cycles that n further operations of every chain and warp took: last end to first start of 2n less that of n.
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
    device::Buffer operands_;
    Stamps stamps_;
};

/// The same chains as the body of a loop, for rates: a body of `operations` in all chains together, run for many turns.
class ChainLoop {
public:
    struct Shape {
        int operations = 1024;    ///< a thread and turn; an even multiple of `chains`
        int chains = 1;
        std::uint32_t turns = 2;  ///< n; with a thousand operations what ramps leave in 2n - n is below 0.1%
    };
    ChainLoop(device::Device& device, const TimedOperation& operation, Shape shape);
    /// Thread operations per cycle with `warps` warps of `warp_size` threads on one SM.
    [[nodiscard]] double throughput(int warps, int warp_size);
    [[nodiscard]] const CompiledKernel& compiled() const { return kernel_; }

private:
    Shape shape_;
    CompiledKernel kernel_;
    device::Buffer operands_;
    Stamps stamps_;
};

[[nodiscard]] ptx::KernelBuilder chain_loop_kernel(ptx::Target target, const TimedOperation& operation, ChainLoop::Shape shape);

/// The kernel that DoubledChain launches, for tests of its code.
[[nodiscard]] ptx::KernelBuilder doubled_chain_kernel(ptx::Target target, const TimedOperation& operation,
                                                      DoubledChain::Shape shape);

}  // namespace gputomo::experiments
