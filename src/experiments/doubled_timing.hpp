// n against 2n: a body is timed once with n and once with 2n copies, so that all that does not grow with n (clock reads,
// waiting for the result, filling and draining of pipelines, skew between warps) cancels.
#pragma once

#include "device/device.hpp"
#include "ptx/builder.hpp"

#include <array>
#include <functional>

namespace gputomo::experiments {

/// Passes over the timed code; the first ones warm the instruction caches and are dropped (Wong 2010, III-A).
inline constexpr int kTimedPasses = 3;

struct DoubledBody {
    ptx::Reg stamps;      ///< u64: where each thread stores its four clock readings
    ptx::Reg waited;      ///< register that the body reads first and writes last
    int length = 0;       ///< n
    std::function<void(int count)> append;  ///< appends `count` copies
};

/// Appends the passes; each starts n, and 2n, with a barrier of the block.
void append_doubled(ptx::KernelBuilder& kernel, const DoubledBody& body);

/// For rates: `length` copies are the body of a loop that runs once, to warm the instruction caches, and then `turns` times. So long a run needs no
/// difference: filling and draining are lost in it. (That of n and 2n turns shows up to 5% more than the hardware has, where warps happen to finish
/// n turns one after the other and 2n together.)
void append_timed_loop(ptx::KernelBuilder& kernel, const DoubledBody& body, ptx::Reg turns);

/// The clock readings of a block.
class Stamps {
public:
    Stamps(device::Device& device, int max_threads);
    [[nodiscard]] device::Address address() const { return buffer_.address(); }
    /// Cycles that the n further copies took: last end less first start of 2n, less that of n.
    [[nodiscard]] double cycles_of_n(int threads) const;
    /// Cycles from the first start to the last end of append_timed_loop's long run.
    [[nodiscard]] double cycles_of_last(int threads) const;

private:
    [[nodiscard]] std::array<double, 2> cycles(int threads) const;

    device::Buffer buffer_;
};

}  // namespace gputomo::experiments
