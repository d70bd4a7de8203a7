// Agarwal 1989: coarse-grained multithreading, every thread's context switch counted.
#include "models/models.hpp"

namespace gputomo::models {
namespace {

/// (R + L) / (R + C), with C = 0 as a GPU has it.
double threads_needed(const Parameters& p, const Group& group) {
    const double run = instruction_time(p) * group.instructions();
    return (run + group.memory * p.memory.latency) / run;
}

Solution solve_counted_switches(const Parameters& p, const Group& group, double warps) {
    return coarse_multithreading(p, group, warps, threads_needed(p, group));
}

}  // namespace

Model agarwal() {
    return {.id = "agarwal",
            .title = "coarse-grained multithreading, n switches hide a stall",
            .source = "Agarwal 1989, Section 2; Volkov 2016, 4.9",
            .solve = solve_counted_switches,
            .needed_warps = threads_needed};
}

}  // namespace gputomo::models
