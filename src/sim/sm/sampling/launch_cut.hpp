// Ends the simulation of a launch in the middle of its blocks, and estimates the rest.
//
// Blocks that take millions of instructions each, one or a few waves of them, leave no block out that could be skipped.
// What they do is known from executing a few of them without timing. What is left then costs as much an instruction as
// the last part that was simulated, if it consists of the same instructions.
#pragma once

#include "sim/sm/sampling/sampling_estimate.hpp"
#include "sim/sm/sampling/sampling_plan.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace gputomo::sim {

/// What a cut has to know of a launch.
struct CutGrid {
    std::uint64_t blocks = 0;
    std::uint64_t sms = 1;
    std::uint64_t blocks_of_sm = 1;  ///< that an SM holds at once
};

class LaunchCut {
public:
    /// Looks for the first time where `first` warp instructions have been simulated, and again after twice as many.
    LaunchCut(const SamplingPlan& plan, const CutGrid& grid, std::uint64_t first);

    /// Whether look() has to be asked.
    [[nodiscard]] bool decides_at(std::uint64_t instructions) const { return instructions >= next_; }
    /// The launch has cost `spent` until now, and issued instructions by place in the code. Returns the estimate where
    /// the simulation can end.
    std::optional<LaunchEstimate> look(const Costs& spent, std::vector<std::uint64_t> issued);

private:
    struct Snapshot {
        Costs spent;
        std::vector<std::uint64_t> issued;
    };
    std::optional<LaunchEstimate> estimate_now(const BlockWork& work) const;

    SamplingPlan plan_;
    CutGrid grid_;
    std::uint64_t interval_;  ///< instructions between two snapshots
    std::uint64_t next_;      ///< instructions at which the next one is taken
    std::uint64_t decision_;  ///< instructions from which on the simulation may end
    std::vector<Snapshot> snapshots_;
    bool asked_ = false;
    std::optional<BlockWork> work_;
};

}  // namespace gputomo::sim
