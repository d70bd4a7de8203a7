// Reads with a known number of bytes under way: each warp waits for all its loads before it issues the next ones.
#pragma once

#include "experiments/compiled_kernel.hpp"

#include <cstdint>
#include <optional>

namespace gputomo::experiments {

/// Blocks, of which one runs on an SM, and what each thread has under way.
struct ReadsShape {
    int blocks = 1;
    int warps = 1;  ///< of a block
    int loads = 1;  ///< of a thread, 16 bytes each
    [[nodiscard]] std::int64_t bytes_in_flight() const;  ///< of a block
};

class Reads {
public:
    static constexpr std::int64_t kAccessBytes = 16, kWarp = 32;
    static constexpr int kMostWarps = 32;

    /// `array` has a power of two of bytes, at most 2^31. Throws CodeMismatch where the loads are not what was written.
    Reads(device::Device& device, int loads, device::Address array, std::int64_t bytes);

    /// Cycles of a block, the mean over blocks, in which each warp reads `turns` times; an array several times as large as a cache goes on
    /// where the last call ended, so that nothing of it is in there. Nothing where two blocks were on one SM or a block does not fit.
    std::optional<double> cycles(ReadsShape shape, int turns, bool go_on);
    [[nodiscard]] const CompiledKernel& compiled() const { return kernel_; }

private:
    device::Address array_;
    std::int64_t bytes_;
    CompiledKernel kernel_;
    device::Buffer results_;
    std::int64_t at_ = 0;
};

[[nodiscard]] ptx::KernelBuilder reads_kernel(ptx::Target target, int loads);

}  // namespace gputomo::experiments
