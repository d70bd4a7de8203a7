// Sim et al. 2012: Hong and Kim's model with arithmetic latency, the two times merged.
#include "models/models.hpp"

#include <algorithm>

namespace gputomo::models {
namespace {

Solution solve_sim(const Parameters& p, const Group& group, double warps) {
    const double arithmetic_time = std::max(p.arithmetic.latency / warps, instruction_time(p));
    const double computing = group.instructions() * warps * arithmetic_time;  // T_comp, Eq. 2-6
    const double peak =
        p.memory.latency *
        p.memory.throughput;  // best sustained throughput, not pin rate; departure delay is then redundant (7.4)
    const double mwp = std::min(warps, peak);  // Eq. A.5
    const double full = 1 + group.memory * p.memory.latency / (group.instructions() * arithmetic_time);
    const double cwp = std::min(warps, full);  // Eq. 4, 5, A.1-A.4
    const double memory =
        group.memory * warps * p.memory.latency / std::min(mwp, std::max(1.0, cwp - 1));  // T_mem, Eq. 11-15
    const double time =
        cwp > mwp ? std::max(computing, memory) : std::max(computing, memory + computing / warps);  // Eq. 1, 16, 17
    return {warps * group.instructions() / time,
            {{"T_comp", computing, "cycles"},
             {"T_mem", memory, "cycles"},
             {"MWP_peak_bw", peak, "warps/SM"},
             {"MWP", mwp, "warps/SM"},
             {"CWP_full", full, "warps/SM"},
             {"CWP", cwp, "warps/SM"},
             {"T_exec", time, "cycles"}}};
}

}  // namespace

Model sim_2012() {
    return {.id = "sim",
            .title = "MWP and CWP with arithmetic latency",
            .source = "Sim et al. 2012, Eq. 1-17, A.1-A.5; Volkov 2016, 7.4",
            .solve = solve_sim};
}

}  // namespace gputomo::models
