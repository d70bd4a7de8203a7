// What a whole launch costs, from the cost of some of its blocks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace gputomo::sim {

/// Cycles and counters, always in the same order, which begins with these.
using Costs = std::vector<double>;
enum CostPlace : std::size_t { kCycles, kInstructions, kFilledLines, kFirstCounter };

/// Consecutive blocks that were simulated.
struct SampledWindow {
    std::uint64_t first = 0, last = 0;  ///< blocks [first, last) whose cost is known
    Costs cost;                         ///< of all of them
    double middle = 0;                  ///< of the blocks that `per_block` was measured over
    Costs per_block;                    ///< in steady state
};

struct LaunchEstimate {
    Costs cost;        ///< of all blocks
    double error = 0;  ///< half width of the 95% confidence interval of the cycles, over the cycles
};

/// Blocks between two windows cost what the line through the costs per block of both says.
///
/// The interval comes from predicting each window from its neighbours by the same line. Costs that grow steadily with
/// the block's number therefore do not widen it. Fewer than three windows give no interval; the error is then 1.
/// `windows` is in order of blocks and not empty.
[[nodiscard]] LaunchEstimate estimate(std::span<const SampledWindow> windows, std::uint64_t blocks);

}  // namespace gputomo::sim
