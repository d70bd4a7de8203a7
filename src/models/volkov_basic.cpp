// Volkov 2016, 4.1: the tighter of a latency bound and a throughput bound.
#include "models/models.hpp"

#include <algorithm>

namespace gputomo::models {
namespace {

/// Memory throughput = min(n / Latency, mem_thru, alu_thru / alpha, issue_thru / (alpha + 1)).
Solution solve_basic(const Parameters& p, const Group& group, double warps) {
    const double latency = group_latency(p, group);
    const double bound = group_throughput(p, group);
    const double groups = std::min(warps / latency, bound);
    return {groups * group.instructions(),
            {{"latency", latency, "cycles"},
             {"latency_bound", warps / latency, "groups/cycle"},
             {"throughput_bound", bound, "groups/cycle"}}};
}

/// n = Latency min(mem_thru, alu_thru / alpha, issue_thru / (alpha + 1)) (4.5).
double needed_basic(const Parameters& p, const Group& group) {
    return group_latency(p, group) * group_throughput(p, group);
}

}  // namespace

Model volkov_basic() {
    return {.id = "volkov-basic",
            .title = "latency bound and throughput bound, whichever is tighter",
            .source = "Volkov 2016, 3.5, 4.1, 4.5",
            .solve = solve_basic,
            .needed_warps = needed_basic};
}

}  // namespace gputomo::models
