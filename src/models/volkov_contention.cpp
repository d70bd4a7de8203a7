// Volkov 2016, 6.5: the basic model with a memory latency that grows with memory throughput.
#include "models/models.hpp"

#include <algorithm>
#include <limits>

namespace gputomo::models {
namespace {

/// Steps of bisection, enough to exhaust the precision of a double.
constexpr int kHalvings = 100;

/// Mean latency of a group when memory instructions run at `accesses` per cycle and SM: a + b lambda / (c - lambda) +
/// alpha alu_lat.
double loaded_latency(const Parameters& p, const Group& group, double accesses) {
    if (!p.contention || group.memory == 0) return group_latency(p, group);
    return group.memory * p.contention->latency(p.bandwidth(accesses)) + arithmetic_latency(p, group);
}

/// The x at which n / Latency(x) = x. The left side falls as x grows, so there is one.
double balanced(const Parameters& p, const Group& group, double warps) {
    if (!p.contention || group.memory == 0) return warps / group_latency(p, group);
    double low = 0, high = p.accesses(p.contention->lowest_limit()) / group.memory;
    for (int i = 0; i < kHalvings; ++i) {
        const double middle = (low + high) / 2;
        (warps / loaded_latency(p, group, middle * group.memory) > middle ? low : high) = middle;
    }
    return low;
}

Solution solve_contention(const Parameters& p, const Group& group, double warps) {
    const double latency_bound = balanced(p, group, warps);
    const double bound = group_throughput(p, group);
    const double groups = std::min(latency_bound, bound);
    return {groups * group.instructions(),
            {{"latency", loaded_latency(p, group, latency_bound * group.memory), "cycles"},
             {"latency_bound", latency_bound, "groups/cycle"},
             {"throughput_bound", bound, "groups/cycle"}}};
}

/// Little's law at the throughput bound, with the latency under that load. If the fit's pole lies below the bound, as
/// that of the closer G80 fit does (6.4), no number of warps reaches the bound.
double needed_contention(const Parameters& p, const Group& group) {
    const double groups = group_throughput(p, group);
    if (p.contention && group.memory > 0 && p.bandwidth(groups) >= p.contention->lowest_limit())
        return std::numeric_limits<double>::infinity();
    return loaded_latency(p, group, groups * group.memory) * groups;
}

}  // namespace

Model volkov_contention() {
    return {.id = "volkov-contention",
            .title = "the basic model with memory latency that grows with throughput",
            .source = "Volkov 2016, 6.4, 6.5",
            .solve = solve_contention,
            .needed_warps = needed_contention};
}

}  // namespace gputomo::models
