// n against 2n: a body is timed once with n and once with 2n copies, so that all that does not grow with n (clock
// reads, waiting for the result, filling and draining of pipelines, skew between warps) cancels.
#pragma once

#include "device/device.hpp"
#include "ptx/builder.hpp"

#include <functional>

namespace gputomo::measure {

/// Passes over the timed code; the first ones warm the instruction caches and are dropped (Wong 2010, III-A).
inline constexpr int kTimedPasses = 3;

struct DoubledBody {
    ptx::Reg stamps;                        ///< u64: where each thread stores its four clock readings
    ptx::Reg waited;                        ///< register that the body reads first and writes last
    int length = 0;                         ///< n
    std::function<void(int count)> append;  ///< appends `count` copies
};

/// Appends the passes; each starts n, and 2n, with a barrier of the block.
void append_doubled(ptx::KernelBuilder& kernel, const DoubledBody& body);

/// For rates: `length` copies are the body of a loop that runs once and then 1 + `turns` times. The code is the same
/// for both, so instruction fetch is too; what is left in the difference is the loop's own three instructions. (n turns
/// against 2n shows up to 5% more than an H200 can: the warps of a loop drift apart, the last ones finish alone, and
/// they need not do so to the same extent twice. One turn leaves little room for it.)
void append_timed_loop(ptx::KernelBuilder& kernel, const DoubledBody& body, ptx::Reg iterations);

/// The clock readings of a block.
class Stamps {
public:
    Stamps(device::Device& device, int max_threads);
    [[nodiscard]] device::Address address() const { return buffer_.address(); }
    /// Cycles that the n further copies, or the further turns, took: last end less first start of the longer run, less
    /// that of the shorter one.
    [[nodiscard]] double cycles_of_n(int threads) const;

private:
    device::Buffer buffer_;
};

}  // namespace gputomo::measure
