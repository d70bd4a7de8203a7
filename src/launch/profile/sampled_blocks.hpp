// What the blocks that were executed tell of the others.
#pragma once

#include "launch/profile/launch_profile.hpp"

#include <cstdint>
#include <optional>

namespace gputomo::launch {

/// Warp instructions of a block.
[[nodiscard]] double mean_instructions(const LaunchProfile& profile);

/// Returns the error of the count whose mean is known least; 0 where all blocks were executed.
[[nodiscard]] MeanError error_of(const LaunchProfile& profile);

/// Adds to the assumptions that fewer blocks of an SM were recorded than it holds at once, where that is so.
void note_missing_blocks(LaunchProfile& profile, std::uint64_t sms);

/// The block that executes most, where it executes far more than the recorded ones; else nullptr.
[[nodiscard]] const BlockCounts* much_longer_block(const LaunchProfile& profile);

/// The SM whose blocks execute most, where all blocks of a grid of one wave were executed and this SM does more than
/// the recorded ones; else nullopt. Block number i starts on SM i modulo `sms`.
[[nodiscard]] std::optional<std::uint64_t> much_busier_sm(const LaunchProfile& profile, std::uint64_t sms);

}  // namespace gputomo::launch
