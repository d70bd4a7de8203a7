// The occupancy estimate of the CUDA C Programming Guide, 5.2.3, as Volkov 2016, 4.8, sums it up: memory latency only.
#include "models/models.hpp"

namespace gputomo::models {
namespace {

/// warps needed = mem_lat / (instruction time alpha).
double needed_original(const Parameters& p, const Group& group) {
    return group.memory * p.memory.latency / (instruction_time(p) * group.arithmetic);
}

/// The stalled warp and the memory instruction counted too: mem_lat / (instruction time (alpha + 1)) + 1.
double needed_refined(const Parameters& p, const Group& group) {
    return group.memory * p.memory.latency / (instruction_time(p) * group.instructions()) + 1;
}

/// The guide gives no throughput; what it implies is issue at the peak rate from the needed number of warps on, and a
/// linear rise to it.
Solution solve_original(const Parameters& p, const Group& group, double warps) {
    const double needed = needed_original(p, group);
    return {linear_to_peak(p, warps, needed), {{"warps_needed", needed, "warps/SM"}}};
}

Solution solve_refined(const Parameters& p, const Group& group, double warps) {
    const double needed = needed_refined(p, group);
    return {linear_to_peak(p, warps, needed), {{"warps_needed", needed, "warps/SM"}}};
}

}  // namespace

Model cuda_guide() {
    return {.id = "cuda-guide",
            .title = "warps that issue while one waits for memory",
            .source = "CUDA C Programming Guide 5.5, 5.2.3; Volkov 2016, 4.8",
            .solve = solve_original,
            .needed_warps = needed_original};
}

Model cuda_guide_refined() {
    return {.id = "cuda-guide-refined",
            .title = "the same, with the waiting warp and its memory instruction counted",
            .source = "Volkov 2016, 4.8",
            .solve = solve_refined,
            .needed_warps = needed_refined};
}

}  // namespace gputomo::models
