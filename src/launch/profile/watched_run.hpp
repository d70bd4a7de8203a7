// Executes a block for an observer, and gives memory back as it was.
#pragma once

#include "launch/prepared_launch.hpp"
#include "launch/profile/saved_memory.hpp"
#include "sim/machine_code/run.hpp"

#include <cstddef>
#include <cstdint>

namespace gputomo::launch {

/// Executes one block of the launch. Returns whether it ended before `left` warp instructions and before the observer
/// threw Interruption; `left` counts down. Throws what sim::machine_code::run() throws. What the block has written is
/// dropped in any case.
[[nodiscard]] bool run_watched(const PreparedLaunch& prepared, sim::machine_code::FunctionalLaunch launch,
                               std::uint64_t block, sim::machine_code::Observer& observer, SavedMemory& saved,
                               std::size_t& left);

}  // namespace gputomo::launch
