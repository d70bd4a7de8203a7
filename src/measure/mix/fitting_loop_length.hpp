// How long the loop of a mix may be before its warps wait for instructions.
#pragma once

#include "device/device.hpp"

namespace gputomo::measure {

/// Instructions of a mix's loop: kLoopLength if that costs nothing (Volkov 2016, 5.1: 500 to 1000). Otherwise the
/// longest candidate with which adds alone run as fast as with any shorter one. Longer loops exceed an instruction
/// cache whose misses show.
[[nodiscard]] int fitting_loop_length(device::Device& device);

}  // namespace gputomo::measure
