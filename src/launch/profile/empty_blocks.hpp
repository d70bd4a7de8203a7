// Blocks that end at once, and which SMs run the others.
#pragma once

#include "launch/prepared_launch.hpp"
#include "launch/profile/saved_memory.hpp"
#include "sim/machine_code/run.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace gputomo::launch {

/// Warp instructions of each warp within which a block has to end to be called empty. Blocks that find their tile
/// outside of a matrix take up to 50. With many more, short blocks of real work would be called so.
inline constexpr std::uint64_t kMostOfEmptyWarp = 64;

/// Warp instructions of each warp that the other blocks have to execute at least. An empty block holds its place for
/// some 400 cycles on an H200, while it starts and ends. Shorter blocks than these would have to wait for that.
inline constexpr std::uint64_t kLeastOfOtherWarp = 1024;

/// Which of `blocks` blocks are empty. `ends(block)` says whether a block ends within kMostOfEmptyWarp instructions of
/// each of its warps and accesses no global memory, and nullopt where it cannot say. Looks at some blocks first, and at
/// all where some of them are empty. Returns nullopt where no block is empty, where all of those looked at are, or
/// where it cannot say.
[[nodiscard]] std::optional<std::vector<bool>> find_empty_blocks(
    std::uint64_t blocks, std::uint64_t seed, const std::function<std::optional<bool>(std::uint64_t)>& ends);

/// Calls find_empty_blocks() with the blocks of a launch. Returns nullopt also where the others are shorter than
/// kLeastOfOtherWarp says: the first and the last of them are looked at.
[[nodiscard]] std::optional<std::vector<bool>> empty_blocks_of(const PreparedLaunch& prepared,
                                                               const sim::machine_code::FunctionalLaunch& launch,
                                                               SavedMemory& saved, std::uint64_t seed);

/// The blocks that are not empty, by SM, in the order in which they start. The first blocks start on all SMs in turn.
/// Each further block starts where one has ended: the empty ones first, then the others in the order of their starts.
[[nodiscard]] std::vector<std::vector<std::uint64_t>> blocks_by_sm(const std::vector<bool>& empty, std::uint64_t sms,
                                                                   std::uint64_t blocks_of_sm);

}  // namespace gputomo::launch
