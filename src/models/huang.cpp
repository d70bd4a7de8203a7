// Huang et al. 2014: interval analysis of one representative warp; round-robin and greedy-then-oldest scheduling, and a
// queueing delay.
#include "models/models.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace gputomo::models {
namespace {

/// The model issues one instruction per cycle; an SM that issues more is that many such units, each with its share of
/// the warps (7.5).
double issue_units(const Parameters& p) { return std::max(1.0, std::round(p.issue_throughput)); }

struct Policy {
    bool greedy = false;
    bool bandwidth = false;
};

/// NO_i of an interval of one instruction that stalls for `latency` - 1 cycles (Eq. 12-16 in the thesis' reading, 7.6).
double not_overlapped(double latency, double probability, double warps) {
    const double stall = latency - 1;
    return std::max(0.0, std::min(probability * stall, 1.0) * (warps - 1) - stall);
}

/// Eq. 21-23. With rho above 1 it is negative, and singular at 1 (7.7).
Solution with_bandwidth(Solution solution, const Parameters& p, const Group& group, double warps) {
    const double arrivals = p.transactions * warps * p.sms / p.memory.latency;  // lambda
    const double service = p.clock_ghz * p.access_bytes / p.pin_bandwidth;      // s
    const double utilisation = arrivals * service;                              // rho
    const double queue = arrivals * service * service / (2 * (1 - utilisation));
    const double delay = group.memory * std::min(queue, service * p.transactions * warps * p.sms / 2);
    const double cpi = 1 / solution.instructions_per_cycle +
                       delay / group.instructions();  // Eq. 3 and 17; there are MSHRs for all warps
    solution.instructions_per_cycle = 1 / cpi;
    solution.terms.insert(solution.terms.end(), {{"lambda", arrivals, "1/cycle"},
                                                 {"s", service, "cycles"},
                                                 {"rho", utilisation, ""},
                                                 {"Bandwidth_delay", delay, "cycles"},
                                                 {"CPI_final", cpi, "cycles"}});
    return solution;
}

template <Policy policy>
Solution solve_huang(const Parameters& p, const Group& group, double warps) {
    const double units = issue_units(p);
    const double share = warps / units;
    const double total = group.memory * p.memory.latency + arithmetic_latency(p, group);
    const double probability = group.instructions() / total;  // Eq. 9
    double stalls = 0;  // NO; zero for round robin, whose intervals are single instructions (Eq. 10, 11)
    if (policy.greedy)
        stalls = group.memory * not_overlapped(p.memory.latency, probability, share) +
                 group.arithmetic * not_overlapped(p.arithmetic.latency, probability, share);
    Solution solution{units * share * group.instructions() / (total + stalls),
                      {{"total_cycles", total, "cycles"}, {"p", probability, ""}, {"NO", stalls, "cycles"}}};  // Eq. 7
    return policy.bandwidth && p.pin_bandwidth > 0 ? with_bandwidth(std::move(solution), p, group, warps) : solution;
}

}  // namespace

Model huang_round_robin() {
    return {.id = "huang-rr",
            .title = "interval analysis, round-robin scheduling",
            .source = "Huang et al. 2014, Eq. 3-11; Volkov 2016, 7.5",
            .solve = solve_huang<Policy{}>};
}

Model huang_greedy() {
    return {.id = "huang-gto",
            .title = "interval analysis, greedy-then-oldest scheduling",
            .source = "Huang et al. 2014, Eq. 12-16; Volkov 2016, 7.6",
            .solve = solve_huang<Policy{.greedy = true}>};
}

Model huang_round_robin_bandwidth() {
    return {.id = "huang-rr-bandwidth",
            .title = "the same with queueing for memory bandwidth, round robin",
            .source = "Huang et al. 2014, Eq. 17-23; Volkov 2016, 7.7, 7.8",
            .solve = solve_huang<Policy{.bandwidth = true}>};
}

Model huang_greedy_bandwidth() {
    return {.id = "huang-gto-bandwidth",
            .title = "the same with queueing for memory bandwidth, greedy then oldest",
            .source = "Huang et al. 2014, Eq. 12-23; Volkov 2016, 7.7, 7.8",
            .solve = solve_huang<Policy{.greedy = true, .bandwidth = true}>};
}

}  // namespace gputomo::models
