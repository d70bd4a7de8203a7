// The kernel of InterferenceChase and the layout of its results.
#pragma once

#include "measure/chase/pointer_chase.hpp"

#include <cstdint>

namespace gputomo::measure {

/// Results of interference_kernel: u32 each.
struct InterferenceResults {
    std::uint32_t own_claim = 0, rival_claim = 0;
    std::uint32_t phase = 0;  ///< 1: the own array is warm; 2: the rival has finished, too
    std::uint32_t begin = 0, end = 0;
    std::uint32_t done = 0;                        ///< 1: both blocks took part
    std::uint32_t rival_begin = 0, rival_end = 0;  ///< clock around the rival's last pass
};
static_assert(sizeof(InterferenceResults) % 8 == 0);  // addresses are stored after it

/// Loads in one loop iteration of a pass. More would exceed small instruction caches; fewer would time the loop's own
/// instructions.
inline constexpr int kInterferenceUnroll = 8;
/// A block on one SM warms its own array. Then a block on another SM makes its passes, each of them timed. Then the
/// first block makes one timed pass.
[[nodiscard]] ptx::KernelBuilder interference_kernel(ptx::Target target, LoadHint hint);
}  // namespace gputomo::measure
