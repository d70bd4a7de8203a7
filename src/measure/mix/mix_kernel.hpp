// The kernel of a mix: all warps together, for a window of time.
#pragma once

#include "measure/mix/mix_code.hpp"

#include <cstdint>

namespace gputomo::measure {

/// What one warp stores; times are those of its SM's clock.
struct MixRecord {
    struct Mark {
        std::uint32_t time = 0;
        std::uint32_t iterations = 0;  ///< done until then
        std::uint32_t begin = 0;       ///< when the last of them began
    };
    Mark settled;                ///< the first end of a turn behind the time to settle
    Mark counted;                ///< and behind the window that counts
    Mark ended;                  ///< and behind the time in which others count
    std::uint32_t pointers = 0;  ///< sum over the chains
    std::uint32_t sm = 0;
    std::uint32_t arrival = 0;  ///< at the gate
    std::uint32_t start = 0;    ///< of the first turn
    std::uint32_t origin =
        0;  ///< of the times to settle and to count: the same for all warps of an SM that come through a gate
    std::uint32_t iterations = 0;  ///< in all
};

inline constexpr std::uint32_t kGateCycles = 1'000'000;

/// A gate that opens when all blocks of the grid have come to it, or after kGateCycles; so all of them are on their SMs
/// together, and where a scheduler prefers old warps, young ones have come before the old ones take all of its time.
/// Behind it the first block of an SM sets the origin of its times, so that what all did in one window of time can be
/// counted, however unevenly they went on. Then turns of a loop until `settle` cycles are over, until `settle` +
/// `window` are, and until `settle` + `window` + `after` are; at most `most_turns`. Below compute capability 2.0 there
/// is no gate, and each warp's times begin at its own start. Arguments: those of the lines, most_turns, settle, window,
/// after (u32), zero (f32), records, gate (u64), goal (u32): what the word at `gate` has when all have come, origins
/// (u64): a zero for each SM.
[[nodiscard]] ptx::KernelBuilder mix_kernel(ptx::Target target, const MixShape& shape);

}  // namespace gputomo::measure
