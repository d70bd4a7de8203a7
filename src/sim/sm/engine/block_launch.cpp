#include "sim/sm/engine/block_launch.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace gputomo::sim {

BlockLaunchSpec block_launch_spec_of(const machine::LaunchCost& launch) {
    BlockLaunchSpec spec;
    spec.replacement = static_cast<double>(launch.block_replacement.value_or(0));
    spec.block_interval = launch.block_interval.value_or(0);
    spec.counts_ends = launch.first_block_interval.known();
    spec.first_interval = launch.first_block_interval.value_or(0);
    spec.next_interval = launch.next_block_interval.value_or(0);
    spec.cluster_replacement = static_cast<double>(launch.cluster_replacement.value_or(spec.replacement));
    spec.cluster_interval = launch.cluster_interval.value_or(0);
    spec.warp_interval = launch.warp_interval.value_or(0);
    spec.code_prefetch = static_cast<std::uint64_t>(launch.code_prefetch.value_or(0));
    spec.code_arrival = costs::code_arrival_of(launch);
    spec.store_drain = launch.store_drain.value_or(0);
    spec.load_drain = launch.load_drain.value_or(0);
    return spec;
}

std::optional<BlockStart> start_block(const BlockLaunchSpec& spec, BlockLaunchState& state, std::uint32_t sm,
                                      double now) {
    SmOccupancy& place = state.sms[sm];
    if (state.next >= spec.blocks || !place.room.fits()) return std::nullopt;
    if (state.begins && place.room.blocks() >= spec.blocks_per_sm) return std::nullopt;
    place.room.start_block();
    const bool first = place.room.blocks() == 1 && state.begins;
    now = std::max({now, first || !spec.counts_ends ? state.next_start : 0, place.next_start});
    if (first || !spec.counts_ends)
        state.next_start = now + (spec.counts_ends ? spec.first_interval : spec.block_interval);
    const double next = spec.counts_ends && state.begins ? spec.next_interval : 0;
    place.next_start = now + std::max(next, spec.warp_interval * place.room.warps_of_block());
    return BlockStart{state.next++, now};
}

double count_end(const BlockLaunchSpec& spec, BlockLaunchState& state, double now) {
    if (!spec.counts_ends) return now;
    const double counted = std::max(now, state.next_end);
    state.next_end = counted + spec.block_interval;
    return counted;
}

std::string describe(const BlockLaunchSpec& spec, const BlockLaunchState& state) {
    std::uint64_t resident = 0;
    for (const auto& sm : state.sms) resident += sm.room.blocks();
    return fmt::format("block launch: {} of {} blocks started, {} resident", state.next, spec.blocks, resident);
}

}  // namespace gputomo::sim
