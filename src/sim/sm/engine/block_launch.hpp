// Block launch: which block starts next on which SM, and when.
#pragma once

#include "costs/arrival.hpp"
#include "costs/block_room.hpp"
#include "machine/machine.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace gputomo::sim {

struct BlockLaunchSpec {
    std::uint64_t blocks = 0;         ///< of the grid
    std::uint32_t blocks_per_sm = 0;  ///< resident at once when the launch begins
    double replacement = 0;           ///< cycles from the end of a block to the start of the one that takes its place
    double block_interval = 0;        ///< cycles between two blocks that the GPU starts, or counts as ended
    bool counts_ends = false;         ///< block_interval passes between ends
    double first_interval = 0;        ///< cycles between the first blocks of two SMs
    double next_interval = 0;         ///< cycles between two first blocks of one SM
    double cluster_replacement = 0;   ///< as `replacement`, of clusters
    double cluster_interval = 0;      ///< cycles between two clusters that the GPU starts; 0: that of their blocks
    double warp_interval = 0;         ///< cycles between two warps that an SM starts
    std::uint64_t code_prefetch = 0;  ///< bytes of code that the launch brings near the SMs
    costs::Arrival code_arrival;      ///< when they are there
    double store_drain = 0;           ///< cycles from the last block or store to the end of a launch that stores
    double load_drain = 0;            ///< cycles from the last block to the end of a launch that loads
};
/// What the description says; the grid's shape is left for the caller to fill in.
[[nodiscard]] BlockLaunchSpec block_launch_spec_of(const machine::LaunchCost& launch);

/// What block launch knows of an SM.
struct SmOccupancy {
    costs::BlockRoom room;
    double next_start = 0;  ///< when another block can start
};

struct BlockLaunchState {
    std::uint64_t next = 0;  ///< index of the block that starts next
    double next_start = 0;   ///< when the GPU can start another block
    double next_end = 0;     ///< when the GPU can count another end
    bool begins = true;      ///< SMs get their first blocks
    std::vector<SmOccupancy> sms;
};

struct BlockStart {
    std::uint64_t block = 0;  ///< index in the grid
    double when = 0;
};

/// Starts the grid's next block on the SM at `now` or later; nothing where no block is left or the SM is full.
[[nodiscard]] std::optional<BlockStart> start_block(const BlockLaunchSpec& spec, BlockLaunchState& state,
                                                    std::uint32_t sm, double now);

/// When a block that ends at `now` counts as ended: blocks of the whole GPU do so one after the other. It may be
/// replaced, and the launch be over, from then on.
[[nodiscard]] double count_end(const BlockLaunchSpec& spec, BlockLaunchState& state, double now);

/// One line for the report of a deadlock.
[[nodiscard]] std::string describe(const BlockLaunchSpec& spec, const BlockLaunchState& state);

}  // namespace gputomo::sim
