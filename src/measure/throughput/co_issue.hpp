// Warps of dependent adds beside warps of one other instruction: how many adds each of the others displaces.
#pragma once

#include "measure/kernel/compiled_kernel.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace gputomo::measure {

/// The instruction that runs beside the adds. Each one depends on the one before.
enum class CoIssued : std::uint8_t {
    sfu,     ///< powers of two
    shared,  ///< loads of one word of shared memory
    global,  ///< loads of one line of global memory, which the nearest cache answers
};

/// What a warp stores.
struct CoIssueRecord {
    std::uint32_t start = 0, end = 0;  ///< clock of its SM
    std::uint32_t iterations = 0, unused = 0;
};

/// Instructions of one SM per cycle.
struct CoIssueRates {
    double adds = 0;
    double others = 0;
};

/// One block on one SM. Until a window of time is over, its first warps execute the other instruction or nothing, and
/// the rest execute adds.
class CoIssueLoop {
public:
    CoIssueLoop(device::Device& device, CoIssued other);

    /// `busy` groups of kGroup warps do not add. They execute the other instruction if `others`, otherwise they end at
    /// once.
    [[nodiscard]] CoIssueRates rates(int busy, bool others);
    [[nodiscard]] int groups() const { return warps_ / kGroup; }
    [[nodiscard]] const CompiledKernel& compiled() const { return kernel_; }
    /// register_bank_overlap() of the adds and the other instruction; nullopt without machine code.
    [[nodiscard]] std::optional<double> bank_overlap() const;

    /// Warps of a group: the same number for each scheduler of an SM with 1, 2 or 4 of them.
    static constexpr int kGroup = 4;
    /// Instructions of a loop iteration besides a few of the loop itself. Both loops fit the smallest instruction
    /// cache that an H200 shows, 4 KiB.
    static constexpr int kLoopLength = 64;

private:
    CoIssued other_;
    CompiledKernel kernel_;
    int warps_ = 1;
    device::Buffer records_;
    device::Buffer line_;
};

/// Repeats `append` until `window` cycles are over and stores the result in `record`, a CoIssueRecord. It reads the
/// clock in each iteration.
void append_window(ptx::KernelBuilder& k, ptx::Reg record, ptx::Reg window, const std::function<void()>& append);

/// Arguments: records (u64), line (u64), busy (u32, warps that do not add), others (u32), window (u32, cycles), seed
/// (f32). Each word of `line` holds its own address. With `others` = 0 the busy warps end at once.
[[nodiscard]] ptx::KernelBuilder co_issue_kernel(ptx::Target target, CoIssued other);

}  // namespace gputomo::measure
