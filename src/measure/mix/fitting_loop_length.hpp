// How long the loop of a mix may be before its warps wait for code.
#pragma once

#include "device/device.hpp"

namespace gputomo::measure {

/// Instructions of a turn of a mix's loop: kLoopLength where that costs nothing (Volkov 2016, 5.1: 500 to 1000), else
/// the longest of fewer with which adds alone run as fast as with any shorter turn. Longer ones do not fit an
/// instruction cache whose misses are not hidden.
[[nodiscard]] int fitting_loop_length(device::Device& device);

}  // namespace gputomo::measure
