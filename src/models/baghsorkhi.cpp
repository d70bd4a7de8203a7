// Baghsorkhi et al. 2010: a work flow graph whose arcs carry throughputs, and memory latency that other warps' work
// exposes or hides.
#include "models/models.hpp"

#include <algorithm>

namespace gputomo::models {
namespace {

/// "Latency" of a warp per repeating group: alpha alu + max(Latency_BW, Latency_exposed). The time of an SM is the sum
/// over its warps.
Solution solve_baghsorkhi(const Parameters& p, const Group& group, double warps) {
    const double issue = instruction_time(p);
    const double alu = std::max(issue, p.arithmetic.latency / warps);      // Eq. 3
    const double compute = group.arithmetic * alu + group.memory * issue;  // CYC_compute / NUM_mem, also Eq. 5: NBC_avg
    const double memory = group.memory / p.memory.throughput;              // CYC_mem / NUM_mem
    const double bandwidth = group.memory * issue + std::max(0.0, memory - compute);  // Eq. 4: Latency_BW
    const double exposed = group.memory * p.memory.latency - (warps - 1) * compute;   // Eq. 6: Latency_exposed
    const double latency = group.arithmetic * alu + (group.memory > 0 ? std::max(bandwidth, exposed) : 0);
    return {group.instructions() / latency,
            {{"alu", alu, "cycles"},
             {"CYC_compute", compute, "cycles"},
             {"CYC_mem", memory, "cycles"},
             {"Latency_BW", bandwidth, "cycles"},
             {"Latency_exposed", exposed, "cycles"},
             {"warp_latency", latency, "cycles"}}};
}

}  // namespace

Model baghsorkhi() {
    return {.id = "baghsorkhi",
            .title = "work flow graph with exposed memory latency",
            .source = "Baghsorkhi et al. 2010, Eq. 3-6; Volkov 2016, 7.2",
            .solve = solve_baghsorkhi};
}

}  // namespace gputomo::models
