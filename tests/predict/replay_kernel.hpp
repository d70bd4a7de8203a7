// Kernels of a few instructions for replays of one SM.
#pragma once

#include "predict/launch/sm_timeline.hpp"

#include <cstdint>
#include <utility>
#include <vector>

namespace gputomo::predict {

inline constexpr double kL1 = 30, kL2 = 200, kMemory = 600;

inline SmRates rates() {
    SmRates rates;
    rates.sms = 4;
    rates.schedulers = 2;
    rates.l1_bytes = 1 << 16;
    rates.l1_latency = kL1;
    rates.l2_latency = kL2;
    rates.memory_latency = kMemory;
    rates.memory_bandwidth = rates.memory_peak = 64;
    rates.barrier_latency = 10;
    rates.block_replacement = 100;
    return rates;
}

inline const Shares kAlone{.active_sms = 1, .first_of_gpu = 1, .l2_bytes = 1 << 20, .written_back = 0};

/// A kernel of these instructions, which each warp of each block executes once in order.
struct Kernel {
    launch::LaunchProfile profile;
    std::vector<launch::BlockTrace> blocks;

    Kernel(std::vector<launch::ProfiledStep> steps, std::size_t count, std::size_t warps) {
        profile.steps = std::move(steps);
        profile.resident_blocks = 1;
        for (std::size_t i = 0; i < count; ++i) {
            launch::BlockTrace& block = blocks.emplace_back();
            block.block = i;
            block.warps.resize(warps);
            for (auto& warp : block.warps)
                for (std::uint32_t s = 0; s < profile.steps.size(); ++s) warp.push_back({.step = s});
        }
    }
    /// Step number `step` of each warp loads or stores a line of its own.
    void touch(std::uint32_t step, launch::AccessKind kind, std::uint64_t apart = 1) {
        std::uint64_t line = 1000;
        for (auto& block : blocks)
            for (auto& warp : block.warps) {
                warp[step].access = static_cast<std::uint32_t>(block.accesses.size());
                block.accesses.push_back({.first = static_cast<std::uint32_t>(block.lines.size()),
                                          .lines = 1,
                                          .kind = kind,
                                          .stage_cycles = 1});
                block.lines.push_back({line, 0xF});
                line += apart;
            }
    }
    [[nodiscard]] Timeline run(const SmRates& of = rates(), const Shares& shares = kAlone) const {
        return replay_sm(profile, of, shares, blocks);
    }
};

inline const launch::ProfiledStep kLoad{.kind = launch::StepKind::global, .stall = 2, .written = 0};
inline const launch::ProfiledStep kUse{.stall = 4, .waits = 1};

}  // namespace gputomo::predict
