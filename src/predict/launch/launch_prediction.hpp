// Predicts the time of one launch from what its sampled blocks executed, and what limits it.
#pragma once

#include "launch/profile/launch_profile.hpp"
#include "predict/launch/l2_content.hpp"
#include "predict/launch/sm_timeline.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gputomo::predict {

/// Cycles that the launch needs of one resource alone.
struct LaunchBound {
    std::string resource;
    double cycles = 0;
};

/// An instruction that warps execute, with what they wait for.
struct InstructionTime {
    std::uint64_t address = 0;
    std::string text;
    double executed = 0;                       ///< by warps of the whole grid
    costs::StallCycles cycles{};               ///< of these warps
    std::optional<std::uint64_t> waits_for{};  ///< address of the instruction whose result it waits for most
};

/// Bytes of the whole grid at each level.
struct LaunchBytes {
    double l1 = 0;           ///< sectors that loads of global and local memory touch, once an instruction
    double l1_hit_rate = 0;  ///< of these
    double l2_read = 0, l2_written = 0, l2_atomic = 0;
    double dram_read = 0, dram_written = 0;
};

struct LaunchPrediction {
    std::string kernel, gpu;
    double cycles = 0;  ///< from the start of the first block to the end of the last one
    double microseconds = 0;
    double profiler_cycles = 0;       ///< with what a profiler counts for an empty kernel
    std::string limiter;              ///< the resource with the largest bound, or "latency"
    double latency_cycles = 0;        ///< the launch would take if nothing were ever busy
    std::vector<LaunchBound> bounds;  ///< largest first
    Utilisation used;                 ///< shares of `cycles`
    std::uint64_t blocks = 0, sampled_blocks = 0, replayed_blocks = 0;
    double resident_blocks = 0, resident_warps = 0;  ///< of an SM while the grid lasts
    double achieved_warps = 0;                       ///< mean of an SM with blocks, over the time that it runs them
    int max_warps = 0;
    std::string residency_limit;  ///< what allows no more blocks on an SM, or "the grid" where it has fewer
    double waves = 0;             ///< blocks of the grid over those that the GPU holds at once
    double needed_warps = 0;      ///< of an SM, for the latency not to limit
    double instructions = 0, thread_instructions = 0, transactions = 0;
    double shared_accesses = 0;      ///< of warps
    double bank_conflict_ratio = 1;  ///< time of these accesses over that without bank conflicts
    LaunchBytes bytes;
    launch::GridFootprint footprint;
    std::vector<InstructionTime> code;       ///< those that are executed, in the order of the code
    std::vector<costs::BlockSpan> timeline;  ///< of one SM, in the order in which its blocks ended
    std::vector<std::string> assumptions, warnings;
};

/// `content` is what the L2 holds when the launch begins. Throws InputError that names a missing leaf of the
/// description.
[[nodiscard]] LaunchPrediction predict_launch(const launch::LaunchProfile& profile, const machine::Machine& machine,
                                              std::string_view machine_origin, const L2Content& content = {});

}  // namespace gputomo::predict
