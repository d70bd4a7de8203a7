// The kernel behind InterferenceChase and the layout of its results.
#pragma once

#include "measure/chase/pointer_chase.hpp"

#include <cstdint>

namespace gputomo::measure {

/// Results of interference_kernel: u32 each.
struct InterferenceResults {
    std::uint32_t own_claim = 0, rival_claim = 0;
    std::uint32_t phase = 0;  ///< 1: the own array has been walked through, 2: the rival's, too
    std::uint32_t begin = 0, end = 0;
    std::uint32_t done = 0;                        ///< 1: both blocks took part
    std::uint32_t rival_begin = 0, rival_end = 0;  ///< of the rival's last lap
};
static_assert(sizeof(InterferenceResults) % 8 == 0);  // addresses are stored behind it

inline constexpr int kInterferenceUnroll = 8;
/// A block on one SM walks through its array, then one on another SM through its own, each lap timed, then the first
/// again, timed.
[[nodiscard]] ptx::KernelBuilder interference_kernel(ptx::Target target, LoadHint hint);
}  // namespace gputomo::measure
