// Timing n against 2n copies of a body. All that does not grow with n cancels: clock reads, waiting for the result,
// filling and draining of pipelines, skew between warps.
#pragma once

#include "device/device.hpp"
#include "ptx/builder.hpp"

#include <functional>

namespace gputomo::measure {

/// Passes over the timed code. All but the last one warm the instruction caches and are dropped (Wong 2010, III-A).
inline constexpr int kTimedPasses = 3;

/// The code that is timed, and the registers that it works with.
struct DoubledBody {
    ptx::Reg stamps;                        ///< u64: where each thread stores its four clock readings
    ptx::Reg waited;                        ///< register that the body reads first and writes last
    int length = 0;                         ///< n
    std::function<void(int count)> append;  ///< appends `count` copies
};

/// Appends the passes. A barrier of the block precedes n copies and 2n copies.
void append_doubled(ptx::KernelBuilder& kernel, const DoubledBody& body);

/// For rates: `length` copies are the body of a loop that runs once and then 1 + `iterations` times. Both runs execute
/// the same code, so instruction fetch cancels; only the loop's own three instructions remain in the difference. (n
/// iterations against 2n can show up to 5% more than an H200's true rate. The warps of a loop drift apart, the last
/// ones finish alone, and they need not do so to the same extent twice. One iteration leaves little room for that.)
void append_timed_loop(ptx::KernelBuilder& kernel, const DoubledBody& body, ptx::Reg iterations);

/// The clock readings of a block.
class Stamps {
public:
    Stamps(device::Device& device, int max_threads);
    [[nodiscard]] device::Address address() const { return buffer_.address(); }
    /// Cycles that the n further copies or the further iterations took: last end less first start of the longer run,
    /// less that of the shorter one.
    [[nodiscard]] double cycles_of_n(int threads) const;

private:
    device::Buffer buffer_;
};

}  // namespace gputomo::measure
