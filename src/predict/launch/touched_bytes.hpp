// How much memory sampled blocks touch.
#pragma once

#include "launch/profile/launch_profile.hpp"

#include <span>

namespace gputomo::predict {

/// Bytes of the different L2 granules that these blocks read, and of those that they write.
struct TouchedBytes {
    double read = 0, written = 0;
};
[[nodiscard]] TouchedBytes touched_bytes(std::span<const launch::BlockTrace> blocks, double granule);

}  // namespace gputomo::predict
