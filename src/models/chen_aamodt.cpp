// Chen and Aamodt 2009: fine-grained multithreading from the throughput of one thread; three of their four models have
// a closed form.
#include "models/models.hpp"

#include <algorithm>
#include <cmath>

namespace gputomo::models {
namespace {

/// Issue slots of one instruction per cycle, each with its share of the warps.
double issue_slots(const Parameters& p) { return std::max(1.0, std::round(p.issue_throughput)); }

/// lambda: instructions per cycle of a warp that runs alone.
double alone(const Parameters& p, const Group& group) { return group.instructions() / group_latency(p, group); }

Solution solve_1(const Parameters& p, const Group& group, double warps) {
    const double lambda = alone(p, group);
    return {std::min(warps, issue_slots(p)) * lambda, {{"lambda", lambda, "1/cycle"}}};
}

Solution solve_2(const Parameters& p, const Group& group, double warps) {
    const double lambda = alone(p, group);
    return {warps * lambda, {{"lambda", lambda, "1/cycle"}}};
}

Solution solve_3(const Parameters& p, const Group& group, double warps) {
    const double lambda = alone(p, group);
    return {issue_slots(p) * (1 - std::pow(1 - lambda, warps / issue_slots(p))), {{"lambda", lambda, "1/cycle"}}};
}

}  // namespace

Model chen_aamodt_1() {
    return {.id = "chen-aamodt-1",
            .title = "no gain from further threads",
            .source = "Chen and Aamodt 2009; Volkov 2016, 4.13: lambda",
            .solve = solve_1};
}

Model chen_aamodt_2() {
    return {.id = "chen-aamodt-2",
            .title = "throughput of one thread times threads",
            .source = "Chen and Aamodt 2009; Volkov 2016, 4.13: n lambda",
            .solve = solve_2};
}

Model chen_aamodt_3() {
    return {.id = "chen-aamodt-3",
            .title = "a cycle is lost when no thread can issue",
            .source = "Chen and Aamodt 2009; Volkov 2016, 4.13: 1 - (1 - lambda)^n",
            .solve = solve_3};
}

}  // namespace gputomo::models
