// Chooses the blocks of a launch that are simulated, and estimates the whole launch from them.
//
// The simulated blocks run without a pause. Where a window ends, the first block of the next one takes the place of the
// block that ends next. Windows, and the distances between them, are whole waves, so that blocks which
// start together in the whole launch also do so here.
//
//     head: from block 0      window          window          tail: to the last block
//     |--------------|........|warm-up|-------|......|warm-up|-------|......|warm-up|--------|
#pragma once

#include "sim/sm/sampling/sampling_estimate.hpp"
#include "sim/sm/sampling/sampling_plan.hpp"

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace gputomo::sim {

/// What a sampler has to know of a launch.
struct SampledGrid {
    std::uint64_t blocks = 0;
    std::uint64_t row = 1;   ///< blocks with equal y and z, which often share what they read
    std::uint64_t wave = 1;  ///< blocks that the GPU holds at once
};

class BlockSampler {
public:
    BlockSampler(const SamplingPlan& plan, const SampledGrid& grid);

    /// Whether next_block() has to be asked before `block` starts.
    [[nodiscard]] bool decides_at(std::uint64_t block) const { return block == border_; }
    /// The block that starts instead of `block`, where the launch has cost `spent` until now.
    std::uint64_t next_block(std::uint64_t block, const Costs& spent);
    /// A block has ended, which has executed this number of warp instructions.
    void note_end(std::uint64_t block, std::uint64_t instructions);
    /// Whether the grid has enough waves that blocks may be left out.
    [[nodiscard]] bool may_skip() const { return border_ != ~std::uint64_t{0}; }
    /// Whether blocks were left out.
    [[nodiscard]] bool skipped() const { return !windows_.empty(); }
    /// What a block of the window before the present one cost. Needs skipped().
    [[nodiscard]] Costs cost_before_skip() const { return per_block(windows_[windows_.size() - 2]); }
    /// The estimate of the launch, whose simulated blocks have cost `spent`.
    [[nodiscard]] LaunchEstimate finish(const Costs& spent);
    /// The number of blocks that were started.
    [[nodiscard]] std::uint64_t simulated() const;

private:
    enum class Phase : std::uint8_t { head, warm_up, measurement };

    /// Blocks that start one after the other.
    struct Window {
        std::uint64_t started = 0;   ///< its first block
        std::uint64_t measured = 0;  ///< its first block after the warm-up
        std::uint64_t last = 0;      ///< the block after its last one
        Costs before;                ///< what the launch had cost when `measured` started
        Costs cost;                  ///< of the blocks [measured, last)
        std::uint64_t sample = 0;    ///< first block of those that say what a block costs
        std::uint64_t sample_end = 0;
        Costs sample_cost;  ///< between the starts of both
    };
    struct EndedBlocks {
        std::uint64_t blocks = 0, instructions = 0;
    };

    [[nodiscard]] bool is_settled(std::uint64_t block, const Costs& spent) const;
    std::uint64_t end_head(std::uint64_t block, const Costs& spent);
    void end_window(std::uint64_t block, const Costs& spent);
    /// Begins the next window, or the tail, and returns its first block.
    std::uint64_t choose_window();
    [[nodiscard]] Costs per_block(const Window& window) const;
    [[nodiscard]] LaunchEstimate estimate_now() const;
    /// The windows that have ended, in order of blocks.
    [[nodiscard]] std::vector<const Window*> in_order() const;

    SamplingPlan plan_;
    SampledGrid grid_;
    std::uint64_t warm_up_ = 0;   ///< blocks of a window before those that are measured
    std::uint64_t measured_ = 0;  ///< blocks of a window that are measured
    std::uint64_t tail_ = 0;      ///< first block of the tail
    std::uint64_t border_;        ///< the block at which the sampler decides next
    Phase phase_ = Phase::head;
    std::vector<Costs> spent_by_wave_;                        ///< of the head
    std::vector<Window> windows_;                             ///< as they were simulated; the head comes first
    std::unordered_map<std::uint64_t, EndedBlocks> by_wave_;  ///< block / grid_.wave
};

}  // namespace gputomo::sim
