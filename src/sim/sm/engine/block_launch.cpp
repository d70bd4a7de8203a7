#include "sim/sm/engine/block_launch.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace gputomo::sim {

BlockLaunchSpec block_launch_spec_of(const machine::LaunchCost& launch) {
    BlockLaunchSpec spec;
    spec.replacement = static_cast<double>(launch.block_replacement.value_or(0));
    spec.block_interval = launch.block_interval.value_or(0);
    spec.cluster_replacement = static_cast<double>(launch.cluster_replacement.value_or(spec.replacement));
    spec.cluster_interval = launch.cluster_interval.value_or(0);
    spec.warp_interval = launch.warp_interval.value_or(0);
    spec.code_prefetch = static_cast<std::uint64_t>(launch.code_prefetch.value_or(0));
    spec.store_drain = launch.store_drain.value_or(0);
    return spec;
}

std::optional<BlockStart> start_block(const BlockLaunchSpec& spec, BlockLaunchState& state, std::uint32_t sm,
                                      double now) {
    SmOccupancy& place = state.sms[sm];
    if (state.next >= spec.blocks || place.resident >= spec.blocks_per_sm) return std::nullopt;
    ++place.resident;
    now = std::max({now, state.next_start, place.next_start});
    state.next_start = now + spec.block_interval;
    place.next_start = now + spec.warp_interval * spec.warps_per_block;
    return BlockStart{state.next++, now};
}

std::string describe(const BlockLaunchSpec& spec, const BlockLaunchState& state) {
    std::uint64_t resident = 0;
    for (const auto& sm : state.sms) resident += sm.resident;
    return fmt::format("block launch: {} of {} blocks started, {} resident", state.next, spec.blocks, resident);
}

}  // namespace gputomo::sim
