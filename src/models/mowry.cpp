// Mowry et al. 1992: how many iterations ahead to prefetch. Iterations in flight stand for warps.
#include "models/models.hpp"

namespace gputomo::models {
namespace {

/// l / s: memory latency over the time of one iteration's instructions.
double distance(const Parameters& p, const Group& group) {
    return group.memory * p.memory.latency / (instruction_time(p) * group.instructions());
}

Solution solve_prefetch(const Parameters& p, const Group& group, double warps) {
    return {linear_to_peak(p, warps, distance(p, group)), {{"prefetch_distance", distance(p, group), "iterations"}}};
}

}  // namespace

Model mowry() {
    return {.id = "mowry",
            .title = "prefetch distance, iterations for warps",
            .source = "Mowry et al. 1992; Volkov 2016, 4.9",
            .solve = solve_prefetch,
            .needed_warps = distance};
}

}  // namespace gputomo::models
