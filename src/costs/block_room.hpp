// Room of an SM for further blocks: what blocks hold, and when they give it back.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace gputomo::costs {

/// What limits the blocks of a launch on an SM.
struct BlockLimits {
    std::uint32_t blocks = 1;              ///< that an empty SM takes
    std::uint32_t most_blocks = 1;         ///< that shared memory and the SM's list of blocks hold
    std::uint32_t warps_of_block = 1;      ///< that a block has
    std::uint32_t warps_of_scheduler = 0;  ///< slots for warps, or registers of so many warps, at each scheduler
    std::uint32_t scheduler_step = 0;      ///< launch.scheduler_step
    bool warps_give_back = false;          ///< launch.given_back is `warps`: a warp that ends gives its room back

    /// Raises the other limits so that an empty SM with this number of schedulers holds `resident` blocks.
    void hold(std::uint32_t resident, std::uint32_t schedulers) {
        blocks = resident;
        most_blocks = std::max(most_blocks, resident);
        warps_of_scheduler = std::max(warps_of_scheduler, (resident * warps_of_block + schedulers - 1) / schedulers);
    }
};

/// Blocks and warps on one SM. Warps go to the schedulers in turn.
///
/// Where warps give their room back, the SM takes blocks before others are over. It looks for room only when a block
/// ends, and takes as many blocks as fit then. Until then, slots and registers of warps that have ended stay unused.
/// Shared memory belongs to a block until its last warp has ended
/// (measured: docs/notes/2026-11-27-blocks-that-make-room.md).
class BlockRoom {
public:
    BlockRoom() = default;
    BlockRoom(const BlockLimits& limits, std::size_t schedulers) : limits_(limits), warps_(schedulers) {}

    [[nodiscard]] std::uint32_t blocks() const { return blocks_; }
    [[nodiscard]] std::uint32_t warps_of_block() const { return limits_.warps_of_block; }
    /// Whether another block fits.
    [[nodiscard]] bool fits() const {
        if (!limits_.warps_give_back) return blocks_ < limits_.blocks;
        if (blocks_ >= limits_.most_blocks) return false;
        const auto schedulers = static_cast<std::uint32_t>(warps_.size());
        for (std::uint32_t i = 0; i < schedulers; ++i) {
            const std::uint32_t asked = (limits_.warps_of_block + schedulers - 1 - i) / schedulers;
            if (warps_[(first_ + i) % schedulers] + asked > limits_.warps_of_scheduler) return false;
        }
        return true;
    }

    void start_block() {
        ++blocks_;
        next_ = first_;
        const auto schedulers = static_cast<std::uint32_t>(warps_.size());
        const std::uint32_t left_over = limits_.warps_of_block % schedulers;
        first_ = (first_ + (left_over != 0 ? left_over : limits_.scheduler_step)) % schedulers;
    }
    /// Starts the next warp of the block that has started last; returns its scheduler.
    std::uint32_t start_warp() {
        const std::uint32_t scheduler = next_++ % static_cast<std::uint32_t>(warps_.size());
        ++warps_[scheduler];
        return scheduler;
    }
    void end_warp(std::uint32_t scheduler) { --warps_[scheduler]; }
    void end_block() { --blocks_; }

private:
    BlockLimits limits_;
    std::vector<std::uint32_t> warps_;  ///< that live, by scheduler
    std::uint32_t blocks_ = 0;
    std::uint32_t first_ = 0;  ///< scheduler of the first warp of the block that starts next
    std::uint32_t next_ = 0;
};

/// A block of the SM ends at `now`, and others start while they fit. `more` says whether any is left. `count` returns
/// when an end counts, and `start` starts a block where it can. Returns when the last of these ends counts: one end for
/// each block that starts, and one where no block is left.
template <class More, class Count, class Start>
double end_block(BlockRoom& room, double now, const More& more, const Count& count, const Start& start) {
    room.end_block();
    if (!more()) return count(now);
    while (more() && room.fits()) {
        now = count(now);
        if (!start(now)) break;
    }
    return now;
}

}  // namespace gputomo::costs
