// The kernel of a mix: all warps run together for a window of time.
#pragma once

#include "measure/mix/mix_code.hpp"

#include <cstdint>

namespace gputomo::measure {

/// What one warp stores. Times are those of its SM's clock.
struct MixRecord {
    struct Mark {
        std::uint32_t time = 0;
        std::uint32_t iterations = 0;  ///< completed by then
        std::uint32_t begin = 0;       ///< when the last of them began
    };
    Mark settled;                ///< the first end of an iteration after the settling time
    Mark counted;                ///< the first end of an iteration after the counting window
    Mark ended;                  ///< the first one after the time in which other warps count
    std::uint32_t pointers = 0;  ///< sum over the chains
    std::uint32_t sm = 0;
    std::uint32_t arrival = 0;  ///< clock at the gate
    std::uint32_t start = 0;    ///< clock at the first iteration
    std::uint32_t origin =
        0;  ///< zero of the settling and counting times, for all warps of an SM that come through a gate
    std::uint32_t iterations = 0;  ///< in all
};

/// The gate opens after these cycles even if blocks are missing, so that no grid hangs that exceeds the GPU.
inline constexpr std::uint32_t kGateCycles = 1'000'000;

/// All blocks wait at a gate, which opens when the whole grid has arrived or after kGateCycles. So all of them are
/// resident together. Where a scheduler prefers old warps, young ones have arrived before the old ones take all of its
/// time. Behind the gate the first block of an SM sets the origin of its times. So the work of all warps in one window
/// of time can be counted, however unevenly they progress. Then each warp iterates until `settle`, `settle` + `window`
/// and `settle` + `window` + `after` cycles are over, for at most `most_turns` iterations. Below compute capability
/// 2.0 there is no gate, and each warp's times begin at its own start.
///
/// Arguments: those of line_parameters(), most_turns, settle, window, after (u32), zero (f32), records, gate (u64),
/// goal (u32), origins (u64). The word at `gate` has the value `goal` when all have arrived. `origins` points to a
/// zero for each SM.
[[nodiscard]] ptx::KernelBuilder mix_kernel(ptx::Target target, const MixShape& shape);

}  // namespace gputomo::measure
