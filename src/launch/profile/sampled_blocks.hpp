// What the blocks that were executed tell of the others.
#pragma once

#include "launch/profile/launch_profile.hpp"

namespace gputomo::launch {

/// Warp instructions of a block.
[[nodiscard]] double mean_instructions(const LaunchProfile& profile);

/// Returns the error of the count whose mean is known least; 0 where all blocks were executed.
[[nodiscard]] MeanError error_of(const LaunchProfile& profile);

/// The block that executes most, where it executes far more than the recorded ones; else nullptr.
[[nodiscard]] const BlockCounts* much_longer_block(const LaunchProfile& profile);

}  // namespace gputomo::launch
