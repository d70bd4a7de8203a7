// Hong and Kim 2009: memory warp parallelism (MWP) against computation warp parallelism (CWP). No arithmetic latency.
#include "models/models.hpp"

#include <algorithm>

namespace gputomo::models {
namespace {

/// Eq. 6 and 7: pin bandwidth over the bandwidth of one warp, per SM. Without a pin bandwidth (shared memory, SFU) the
/// throughput of the unit takes its place.
double mwp_peak_bandwidth(const Parameters& p) {
    const double throughput =
        p.access == Access::global && p.pin_bandwidth > 0 ? p.accesses(p.pin_bandwidth) : p.memory.throughput;
    return p.memory.latency * throughput;
}

/// Eq. 8: (Mem_cycles + Comp_cycles) / Comp_cycles.
double cwp_full(const Parameters& p, const Group& group) {
    const double computing = instruction_time(p) * group.instructions();
    return (group.memory * p.memory.latency + computing) / computing;
}

/// Cycles that all warps of an SM take for one group each: Eq. 22 (latency bound), 23 (memory bound) and 24 (compute
/// bound). Terms that do not grow with the number of groups are left out. Volkov 2016, 7.1, prints the first and the
/// last equation; the memory-bound one is from the original paper.
double time_of(const Parameters& p, const Group& group, double warps, double mwp, double cwp) {
    const double memory = group.memory * p.memory.latency;
    const double computing = instruction_time(p) * group.instructions();
    if (mwp == warps && cwp == warps) return memory + computing;
    if (cwp >= mwp) return memory * warps / mwp;
    return computing * warps;
}

Solution solve_hong_kim(const Parameters& p, const Group& group, double warps) {
    const double peak = mwp_peak_bandwidth(p);
    const double full = cwp_full(p, group);
    const double mwp = std::min(warps, peak);
    const double cwp = std::min(warps, full);
    const double time = time_of(p, group, warps, mwp, cwp);
    return {warps * group.instructions() / time,
            {{"MWP_peak_bw", peak, "warps/SM"},
             {"MWP", mwp, "warps/SM"},
             {"CWP_full", full, "warps/SM"},
             {"CWP", cwp, "warps/SM"},
             {"time", time, "cycles"}}};
}

}  // namespace

Model hong_kim() {
    return {.id = "hong-kim",
            .title = "memory against computation warp parallelism",
            .source = "Hong and Kim 2009, Eq. 6-9, 22-24; Volkov 2016, 7.1",
            .solve = solve_hong_kim,
            .needed_warps = cwp_full};
}

}  // namespace gputomo::models
