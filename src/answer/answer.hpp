// What a launch costs on a GPU, why, and how sure that is. predict() and simulate() return it with the same names and
// units. What one of them cannot know is nullopt, never zero.
#pragma once

#include "answer/caches.hpp"
#include "answer/instructions.hpp"
#include "answer/sensitivity.hpp"
#include "device/device.hpp"
#include "launch/launch.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gputomo::answer {

enum class Method : std::uint8_t { predict, simulate };
[[nodiscard]] std::string_view name_of(Method method);

struct LaunchShape {
    std::string kernel;
    device::Dim3 grid, block;
    std::uint64_t dynamic_shared_bytes = 0;  ///< of a block
    /// Bytes that a block takes of its SM: static, dynamic, and what the system keeps.
    std::optional<std::uint64_t> shared_bytes{};
    std::optional<int> registers_per_thread{};
};

/// Where 90% of the measured times would lie, by how far this method was off for kernels that were not used to make it.
struct Interval {
    double low = 0, high = 0;  ///< cycles as a profiler counts them
    std::string basis;         ///< which kernels, on which GPU, and how far off 90% of them were
};

/// How much of the launch was looked at. A block is executed for its results, or timed on an SM too.
struct Coverage {
    std::uint64_t blocks = 0;           ///< of the grid
    std::uint64_t executed_blocks = 0;  ///< at least once
    std::uint64_t timed_blocks = 0;
    std::optional<double> error;  ///< half width of the 95% confidence interval of the cycles, over the cycles
    bool machine_code = true;     ///< false: PTX was executed
};

/// Time as a profiler counts it: gpc__cycles_elapsed.max.
struct Time {
    double cycles = 0;
    double microseconds = 0;  ///< at the clock of the description
    /// nullopt where no errors are published for this GPU, or where they do not hold for this launch: a warning says
    /// so.
    std::optional<Interval> interval{};
    /// The part of `cycles` before the first block starts and after the last one ends. nullopt where the description
    /// does not say; `cycles` then has no such part.
    std::optional<double> launch_cycles;
    /// With warm caches, where the answer is that of cold ones and both differ by more than kNotableDifference.
    /// nullopt also where that was not looked at.
    std::optional<double> warm_cycles;
};
/// Share of the cold time by which the warm one differs where both are given.
inline constexpr double kNotableDifference = 0.05;

/// Cycles that the launch would take if one resource alone limited it.
struct Bound {
    std::string resource;
    double cycles = 0;
};

/// A part of the launch's time.
struct TimePart {
    std::string what;
    double cycles = 0;
};

struct Limiter {
    std::string resource;       ///< the one with the largest bound, or "latency" where that is larger
    double latency_cycles = 0;  ///< the launch would take if nothing were ever busy
    std::vector<Bound> bounds;  ///< largest first
    /// Where the time goes: the largest of `bounds`, and what the launch takes beyond it. The sum is the time.
    std::vector<TimePart> parts{};
    /// Shares of what the whole GPU can do at most, by unit as a profiler groups them.
    double used_sm = 0, used_l1 = 0, used_l2 = 0, used_dram = 0;
};

struct Occupancy {
    double blocks_per_sm = 0, warps_per_sm = 0;  ///< while the grid lasts
    int max_warps_per_sm = 0;                    ///< 0: the description does not say
    /// What allows no more blocks on an SM: "registers", "shared memory", "threads of an SM" or "blocks of an SM".
    /// Where both of the first do alike, it is "registers and shared memory". Where the grid has no more blocks, it is
    /// "the grid".
    std::string limited_by;
    double waves = 0;                    ///< blocks of the grid over those that the GPU holds at once
    std::optional<double> needed_warps;  ///< of an SM, for the latency not to limit
    /// Mean warps of an SM that has blocks, over the time from its first block to the end of its last one.
    std::optional<double> achieved_warps_per_sm{};
    /// Share of the GPU's places for blocks that are empty in the last wave, of the places in all waves.
    std::optional<double> tail_share{};
};

struct CacheAccesses {
    std::uint64_t hits = 0, misses = 0;
};

/// Counts of the whole grid.
struct Work {
    double warp_instructions = 0, thread_instructions = 0;
    double transactions = 0;  ///< of global and local memory: lines of an instruction
    std::optional<double> divergent_branches;
    std::optional<double> shared_accesses;       ///< warp instructions that access shared memory
    std::optional<double> shared_time_ratio;     ///< their time over that without bank conflicts
    std::optional<double> bank_conflict_cycles;  ///< of shared memory
    std::optional<double> l1_bytes, l1_hit_rate;
    std::optional<double> l2_read_bytes, l2_written_bytes, l2_atomic_bytes;
    std::optional<double> dram_read_bytes, dram_written_bytes;
    double dram_bytes = 0;  ///< read and written
    std::optional<double> footprint_read_bytes, footprint_written_bytes;
    bool footprint_exact = false;  ///< all blocks were executed
    /// Floating-point operations by type: "f16", "bf16", "f32", "f64", and "tensor f16" and so on for matrix products.
    /// A fused multiply-add counts as two. Integer products of tensor cores are "tensor i8". nullopt where they were
    /// not counted.
    std::optional<std::map<std::string, double>> flop{};
    std::map<std::string, CacheAccesses> caches;  ///< by key of the description; empty where they were not counted
};

/// What moves or is computed in a second, beside what the description says can be.
struct Rate {
    std::string what;  ///< "f32", "registers from L1", "L1 from L2", "L2 to DRAM"
    double per_second = 0;
    std::optional<double> ceiling;  ///< nullopt where the description does not say
};

/// The two ceilings of a launch: what its instructions can compute, and what DRAM can move for them.
struct Roofline {
    std::string type;  ///< of most of the launch's operations: "f32" where it has none
    std::optional<double> flop_per_second, flop_per_second_ceiling;
    double dram_bytes_per_second = 0;
    std::optional<double> dram_bytes_per_second_ceiling;
    /// Operations for each byte of DRAM; nullopt where operations were not counted, or no byte was moved.
    std::optional<double> flop_per_byte;
};

/// A change that would make the launch faster, by the model that predicted it.
struct Advice {
    /// "coalesced", "bank_conflicts", "more_warps", "larger_blocks", "wide_accesses", "divergence",
    /// "independent_arithmetic", "single_precision", "spills", "atomics" or "barriers"
    std::string id;
    std::string change;  ///< in words
    double factor = 1;   ///< time of the launch over its time with the change
    struct Instruction {
        std::uint64_t address = 0;  ///< bytes from the kernel's first instruction
        std::string text;
        std::optional<sass::SourcePlace> source{};  ///< nullopt where the code does not say
    };
    std::vector<Instruction> instructions;  ///< some of those that it concerns
};

struct Answer {
    Method method = Method::predict;
    LaunchShape launch;
    std::string gpu;
    Caches caches;
    Coverage coverage;
    Time time;
    std::optional<Limiter> limiter;
    std::optional<Occupancy> occupancy;
    Work work;
    std::vector<Rate> flop_rates{};  ///< operations by type; empty where they were not counted
    std::vector<Rate> byte_rates{};  ///< each way that was counted
    Roofline roofline{};
    std::string summary{};  ///< what takes the time, in a few sentences
    /// Those that are executed, in the order of the code. Empty for PTX, of which no machine code is executed.
    std::vector<Instruction> instructions{};
    /// Blocks of one SM, in the order in which they ended, at most costs::kMostSpans.
    std::vector<costs::BlockSpan> timeline{};
    /// Best first. nullopt where changes were not tried: that was not asked for, or too much is recorded
    /// (kMostAdvised). Empty where none would help.
    std::optional<std::vector<Advice>> advice{};
    /// Largest first. nullopt where that was not looked for.
    std::optional<std::vector<Sensitivity>> sensitivity{};
    /// Where memory differs from what the recorded GPU left; nullopt where that was not asked for.
    std::optional<std::vector<launch::Difference>> differences;
    /// What the threads of the simulated blocks print, in the order in which they do. nullopt where that is not looked
    /// at: in predictions, and for PTX.
    std::optional<std::string> printed{};
    std::vector<std::string> assumptions, warnings;
};

}  // namespace gputomo::answer
