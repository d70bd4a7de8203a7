// Replays what the blocks of one SM executed against the units, caches and queues of that SM.
#pragma once

#include "costs/stalls.hpp"
#include "launch/profile/launch_profile.hpp"
#include "predict/launch/atomic_load.hpp"
#include "predict/launch/l2_content.hpp"
#include "predict/launch/sm_rates.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace gputomo::predict {

/// What one SM has of the caches and the memory that all SMs share.
struct Shares {
    double active_sms = 1;
    double first_start = 0;   ///< when the SM gets its first block
    double slowest = 1;       ///< time that this SM takes for an equal part of what all SMs share, over the mean
    double gpc_sms = 1;       ///< of these, SMs of this SM's GPC
    double first_of_gpu = 1;  ///< of the granules that this SM reads, the share that it is the first SM to read
    double l2_bytes = 0;      ///< capacity of the L2 that holds what this SM reads
    double written_back = 0;  ///< share of written bytes that reach DRAM while the launch runs
    double stored_once = 1;   ///< share of written bytes that are the first of their sector
    double displaced = 0;     ///< bytes of earlier data that go to DRAM for each byte that the launch puts into the L2
    double write_cost = 1;    ///< time of a byte written to DRAM, relative to one that is read
    double scattered = 1;     ///< the same beside no reads, for bytes of the launch: more where lines are not whole
    double writers = 1;       ///< SMs that write into the same line, in the mean
    bool completed_writes = false;        ///< these SMs write all of it
    bool completed_reads = false;         ///< other SMs read the rest of a line at about the same time
    const AtomicLoad* atomics = nullptr;  ///< of the grid; nullptr: the description knows no units for atomics
    AtomicShares atomic_shares;           ///< where `atomics` are given
    const L2Content* content = nullptr;   ///< of the L2 when the launch begins; nullptr: nothing
    /// active_sms and atomic_shares.others while the last blocks run that replay_whole_and_first() is given.
    double active_at_end = 1, atomics_at_end = 0;
    /// The first block that stands for later ones as well, and the number of the one in the middle of those.
    std::size_t stands_from = std::numeric_limits<std::size_t>::max();
    double stands_for = 0;
    bool contention = true;  ///< false: units, bandwidths and issue slots are never busy, only latencies count
};

/// Cycles for which each resource of the SM, or its share of the GPU's, was busy.
using BusyCycles = std::map<std::string, double>;

/// How much of what the whole GPU can do at most is used, by unit as a profiler groups them. The numbers are shares of
/// a launch's time, or cycles at the highest rate.
struct Utilisation {
    double sm = 0;    ///< issue slots, the busiest kind of unit, or the constant cache
    double l1 = 0;    ///< storage of L1 and shared memory, texture units, or an SM's ports to the L2
    double l2 = 0;    ///< its bandwidths, or the way between its partitions
    double dram = 0;  ///< bytes over those that its pins can move
};

struct Timeline {
    double cycles = 0;
    BusyCycles busy;
    Utilisation used;                      ///< cycles at the highest rate, averaged over all SMs and their schedulers
    std::vector<double> ends;              ///< of blocks, in the order in which they end
    double warp_cycles = 0;                ///< from the start of each block to the end of each of its warps, summed
    costs::StallRecord stalls;             ///< by step
    std::vector<costs::BlockSpan> blocks;  ///< at most costs::kMostSpans
    double l1_bytes = 0;                   ///< that loads asked for, in sectors
    double l1_hit_bytes = 0;
    double l2_read_bytes = 0, l2_written_bytes = 0, l2_atomic_bytes = 0;
    double dram_read_bytes = 0, dram_written_bytes = 0;
};

/// The resources of `busy`; units have their own names.
inline constexpr const char *kIssue = "issue slots", *kRegisterPorts = "register ports",
                            *kStorage = "L1 and shared memory", *kFirstCache = "first-level cache",
                            *kConstants = "constant cache", *kTextures = "texture units", *kL2Loads = "L2 loads",
                            *kL2Stores = "L2 stores", *kL2Atomics = "L2 atomics", *kOneSector = "atomics to one sector",
                            *kFewSectors = "atomics to few sectors", *kL2Fabric = "L2 fabric",
                            *kFilling = "stores to lines that are being fetched", *kDram = "DRAM",
                            *kBlockStarts = "starts of blocks";

/// Runs `blocks` on one SM that holds as many of them at once as the profile says. A warp issues its instructions in
/// order, as their stall counts and dependence barriers say.
[[nodiscard]] Timeline replay_sm(const launch::LaunchProfile& profile, const SmRates& rates, const Shares& shares,
                                 std::span<const launch::BlockTrace> blocks);

/// Two replays that do the same until the first blocks have begun.
struct WholeAndFirst {
    Timeline whole;
    Timeline first;  ///< of the first blocks alone
};

/// As replay_sm() of `blocks`, with the `last` blocks behind them, and of the first `first` of `blocks`. What both do
/// is done once.
[[nodiscard]] WholeAndFirst replay_whole_and_first(const launch::LaunchProfile& profile, const SmRates& rates,
                                                   const Shares& shares, std::span<const launch::BlockTrace> blocks,
                                                   std::span<const launch::BlockTrace* const> last, std::size_t first);

}  // namespace gputomo::predict
