// Which lines the SMs of a GPC load together.
#pragma once

#include "launch/profile/launch_profile.hpp"
#include "machine/machine.hpp"

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace gputomo::launch {

/// The blocks that start on the SMs of one GPC when a launch begins, of which `block` is one: of the first one on each
/// SM. `block` is not among them.
[[nodiscard]] std::vector<std::uint64_t> blocks_of_gpc(const machine::Machine& machine, std::uint64_t blocks,
                                                       std::uint64_t block);

/// Executes a block. Returns what it did, or nullptr where no further one is to be executed.
using Executed = std::function<const BlockTrace*(std::uint64_t block)>;

/// Fills BlockTrace::sharers of the blocks of an SM. The first one is compared with `others`, as many of which are
/// executed as `executed` allows. Blocks share a line where the same warp of each loads it with the access of the same
/// number. Others load it at another time: requests of an H200 meet within 50 to 100 cycles. Blocks behind the first
/// one have as many sharers as its lines have in the mean.
void add_sharers(std::span<BlockTrace> of_sm, std::span<const std::uint64_t> others, const Executed& executed);

}  // namespace gputomo::launch
