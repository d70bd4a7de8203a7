// Zhang and Owens 2011: the longest, or the sum, of the times that each kind of instruction takes alone at the same
// occupancy.
#include "models/models.hpp"

#include <algorithm>

namespace gputomo::models {
namespace {

struct Times {
    double arithmetic = 0;
    double memory = 0;
};

/// Cycles per group from measured throughput of each kind alone, or from its latency and throughput (Volkov
/// 2016, 4.11).
Times times_of(const Parameters& p, const Group& group, double warps) {
    const auto rate = [&](const Curve& curve, const Rate& unit) {
        return curve.empty() ? std::min(warps / unit.latency, unit.throughput) : value_at(curve, warps);
    };
    return {group.arithmetic / rate(p.arithmetic_curve, p.arithmetic), group.memory / rate(p.memory_curve, p.memory)};
}

Solution solution(const Times& times, const Group& group, double time) {
    return {group.instructions() / time,
            {{"alu_time", times.arithmetic, "cycles"}, {"mem_time", times.memory, "cycles"}, {"time", time, "cycles"}}};
}

Solution solve_max(const Parameters& p, const Group& group, double warps) {
    const Times times = times_of(p, group, warps);
    return solution(times, group, std::max(times.arithmetic, times.memory));
}

Solution solve_add(const Parameters& p, const Group& group, double warps) {
    const Times times = times_of(p, group, warps);
    return solution(times, group, times.arithmetic + times.memory);
}

}  // namespace

Model zhang_owens_max() {
    return {.id = "zhang-owens",
            .title = "arithmetic and memory time in isolation, overlapping",
            .source = "Zhang and Owens 2011; Volkov 2016, 4.11, 7.3",
            .solve = solve_max};
}

Model zhang_owens_add() {
    return {.id = "zhang-owens-add",
            .title = "the same, but the times add",
            .source = "Volkov 2016, 4.12, 7.3; Kothapalli et al. 2009",
            .solve = solve_add};
}

}  // namespace gputomo::models
