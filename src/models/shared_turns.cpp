// A model of our own for the gradual saturation that Volkov 2016, 6.5 and 7.10, leaves open: warps that meet lose time to each other long
// before a resource is full. All warps that compute share their scheduler's slots, and those that access memory queue for it.
#include "models/models.hpp"
#include "models/replay.hpp"

#include <algorithm>
#include <cmath>

namespace gputomo::models {
namespace {

/// SMs that stand for all that share the memory; with more the result changes by 1% at most.
constexpr int kStandIns = 8;
/// The latency under load depends on the load that comes out. Rounds of halving the difference.
constexpr int kRounds = 4;

double latency_at(const Parameters& p, double accesses) { return p.loaded_latency.empty() ? p.memory.latency : value_near(p.loaded_latency, accesses); }

ReplayStations stations_of(const Parameters& p, const Group& group, int warps, double access_latency) {
    const bool shares_memory = p.access == Access::global || p.access == Access::l2;
    ReplayStations stations{.sms = shares_memory ? std::min(p.sms, kStandIns) : 1, .schedulers = p.schedulers, .warps = warps};
    stations.servers = p.access == Access::sfu ? stations.schedulers : 1;
    stations.alone = p.arithmetic.latency;
    stations.slot = p.schedulers / p.arithmetic.throughput;
    const double accesses = std::max(group.memory, 1e-9);
    // A slot of issue lasts less than one of the arithmetic unit where that is the narrower (Volkov 2016, 4.7, 4.12).
    const double issuing = group.memory * p.access_slots * p.arithmetic.throughput / p.issue_throughput;
    const double alone = std::min(issuing * stations.alone, access_latency);
    stations.work = group.arithmetic + issuing;
    const double dependent = p.latency_to_arithmetic && group.arithmetic >= 1 ? *p.latency_to_arithmetic : access_latency;
    stations.delay = group.memory * std::max(0.0, dependent - alone / accesses);
    const double of_all = group.memory / p.memory.throughput;  // cycles of an SM's share
    stations.service = of_all * stations.servers / stations.sms;
    return stations;
}

double groups_per_cycle(const Parameters& p, const Group& group, int warps) {
    if (warps == 0) return 0;
    double accesses = std::min(warps / group_latency(p, group), group_throughput(p, group));
    for (int round = 0;; ++round) {
        const double found = replayed_throughput(stations_of(p, group, warps, latency_at(p, accesses * group.memory)));
        if (p.loaded_latency.empty() || round == kRounds) return found;
        accesses = (accesses + found) / 2;
    }
}

Solution solve_shared_turns(const Parameters& p, const Group& group, double warps) {
    const double whole = std::floor(warps);
    const auto at = [&](double count) { return groups_per_cycle(p, group, static_cast<int>(count)); };
    double groups = at(whole);
    if (warps > whole) groups += (warps - whole) * (at(whole + 1) - groups);
    return {groups * group.instructions(), {{"latency", warps / groups, "cycles"}, {"throughput_bound", group_throughput(p, group), "groups/cycle"}}};
}

}  // namespace

Model shared_turns() {
    return {.id = "shared-turns", .title = "warps that take turns at issue and queue for memory, replayed", .source = "gputomo; Volkov 2016, 4.12, 6.5, 7.10 for what it explains", .solve = solve_shared_turns};
}

}  // namespace gputomo::models
