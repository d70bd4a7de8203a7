// Long code that one warp runs through once, with clock reads on the way, after other code has evicted it.
#pragma once

#include "measure/kernel/compiled_kernel.hpp"
#include "measure/run.hpp"

#include <cstdint>
#include <vector>

namespace gputomo::measure {

/// Cycles from one clock read to the next one in the code.
struct CodePassage {
    std::uint64_t from = 0, to = 0;  ///< places of the reads in the code, bytes
    double cycles = 0;
};

/// A kernel of straight-line code. Other code evicts it from all caches of instructions between two launches. A pass
/// through a buffer can evict it from the L2 as well.
class StraightCode {
public:
    explicit StraightCode(const Run& run);
    /// Medians of several launches that find the code in the L2 or in memory. Empty if the compiler changed the code.
    [[nodiscard]] std::vector<CodePassage> from_l2();
    /// As from_l2(). Empty as well where the device does not say how large its L2 is.
    [[nodiscard]] std::vector<CodePassage> from_memory();
    [[nodiscard]] const CompiledKernel& compiled() const { return kernel_; }

private:
    StraightCode(const Run& run, const ptx::KernelBuilder& written);
    void evict_code();
    void evict_l2();
    [[nodiscard]] std::vector<CodePassage> passages(bool of_memory);

    Run run_;
    CompiledKernel kernel_, other_, sweep_;
    device::Buffer results_;
    std::uint64_t buffer_bytes_;        ///< 0: the size of the L2 is not known
    std::vector<std::uint64_t> reads_;  ///< places in the code, bytes
};

}  // namespace gputomo::measure
