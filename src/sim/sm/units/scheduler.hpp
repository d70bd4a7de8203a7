// A warp scheduler: which of its warps issues next, and when.
#pragma once

#include "machine/machine.hpp"
#include "sim/sm/units/execution_units.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace gputomo::sim {

struct SchedulerSpec {
    double issue_interval = 1;      ///< cycles between two issues of a scheduler
    double warp_interval = 1;       ///< cycles between two independent instructions of one warp
    std::uint32_t issue_width = 1;  ///< most instructions of one warp that issue together
    bool oldest_block_first = false;
};
[[nodiscard]] SchedulerSpec scheduler_spec_of(const machine::Issue& issue);

inline constexpr std::size_t kNobody = static_cast<std::size_t>(-1);

/// The warps of a scheduler. `warps`, `ages`, `times` and `resources` run in parallel. The choice of a warp, the
/// simulator's hottest loop, reads only the last two. It goes through them in the order of `turns` and ends at the
/// first warp that can issue.
struct Scheduler {
    std::uint32_t sm = 0;
    std::uint32_t number = 0;          ///< within the SM
    std::vector<std::uint32_t> warps;  ///< indices of resident warps
    std::vector<std::uint64_t> ages;   ///< warps with a smaller number are chosen first
    std::vector<std::uint32_t>
        turns;                        ///< positions of the warps, in the order of `ages`, then of last issues or starts
    std::vector<double> times;        ///< earliest issue of each warp's next instruction, were its resource free
    std::vector<Resource> resources;  ///< what that instruction has to find free: an index into `available`
    std::vector<double> available;    ///< when each resource is free, as of the last update
    double last_issue = 0;
    double free = 0;   ///< when the scheduler itself can issue again
    double event = 0;  ///< time of its pending event; kNever: none
    /// Position of the warp that is chosen first if it can issue; kNobody: none.
    std::size_t preferred = kNobody;
};

/// A new warp has no issue time yet. Its age is at least that of all others. Returns its position.
std::size_t add_warp(Scheduler& scheduler, std::uint32_t warp, std::uint64_t age);
/// Warps behind it move up by one position.
void remove_warp(Scheduler& scheduler, std::size_t position);

/// The preferred warp. If it cannot issue, loose round robin among the warps of the smallest age that can issue now:
/// the one whose last issue is longest ago. A warp whose unit was busy when it would have been chosen is therefore the
/// next to have it. Returns the number of warps where none can issue.
[[nodiscard]] std::size_t choose(const Scheduler& scheduler, double now);

/// Earliest cycle at which some warp can issue; kNever where all of them wait for other warps.
[[nodiscard]] double next_issue(const Scheduler& scheduler);

/// The warp at `position` issues now. No warp is preferred then.
void note_issue(const SchedulerSpec& spec, Scheduler& scheduler, std::size_t position, double now);

/// The scheduler issues nothing else for `slots` issue slots from `now` on.
void take_slots(const SchedulerSpec& spec, Scheduler& scheduler, double slots, double now);

/// One line for the report of a deadlock.
[[nodiscard]] std::string describe(const Scheduler& scheduler);

}  // namespace gputomo::sim
