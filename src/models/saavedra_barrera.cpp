// Saavedra-Barrera et al. 1990: coarse-grained multithreading, one context switch less than threads.
#include "models/models.hpp"

namespace gputomo::models {
namespace {

/// Threads run for R cycles, here (alpha + 1) instructions at the full rate, and wait for L. A GPU switches in no time:
/// C = 0. Eq. 4: L / (R + C) + 1.
double needed(const Parameters& p, const Group& group) {
    return group.memory * p.memory.latency / (instruction_time(p) * group.instructions()) + 1;
}

Solution solve_threads(const Parameters& p, const Group& group, double warps) {
    return coarse_multithreading(p, group, warps, needed(p, group));
}

}  // namespace

Model saavedra_barrera() {
    return {.id = "saavedra-barrera",
            .title = "coarse-grained multithreading, n - 1 switches hide a stall",
            .source = "Saavedra-Barrera et al. 1990, Eq. 4; Volkov 2016, 4.9",
            .solve = solve_threads,
            .needed_warps = needed};
}

}  // namespace gputomo::models
