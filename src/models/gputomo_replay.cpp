// gputomo's own model of gradual saturation, which Volkov 2016, 6.5 and 7.10, leaves open: warps that collide delay
// each other long before a resource is saturated. Computing warps share issue slots, and accesses queue for memory.
#include "models/models.hpp"
#include "models/replay.hpp"

#include <algorithm>
#include <cmath>

namespace gputomo::models {
namespace {

/// Simulated SMs that stand for all SMs sharing the memory; more change the result by at most 1%.
constexpr int kStandIns = 8;
/// Latency under load depends on the throughput that results from it. The fixed point is approached by at most
/// `kRounds` halvings, until the latency changes by no more than the share `kSame`. Tighter limits take longer.
constexpr int kRounds = 4;
constexpr double kSame = 0.002;

double latency_at(const Parameters& p, double accesses) {
    return p.loaded_latency.empty() ? p.memory.latency : value_near(p.loaded_latency, accesses);
}

ReplayStations stations_of(const Parameters& p, const Group& group, int warps, double access_latency) {
    const bool shares_memory = p.access == Access::global || p.access == Access::l2;
    ReplayStations stations{
        .sms = shares_memory ? std::min(p.sms, kStandIns) : 1, .schedulers = p.schedulers, .warps = warps};
    stations.servers = p.access == Access::sfu ? stations.schedulers : 1;
    stations.adds = group.arithmetic;
    stations.accesses = group.memory;
    stations.add_latency = p.arithmetic.latency;
    stations.add_slot = p.schedulers / p.arithmetic.throughput;
    stations.access_slot = p.schedulers / p.issue_throughput;
    stations.access_holds = (p.access_slots - 1) * stations.access_slot;
    stations.access_latency =
        p.latency_to_arithmetic && group.arithmetic >= 1 ? *p.latency_to_arithmetic : access_latency;
    stations.latency_spread = p.latency_spread;
    stations.service = stations.servers / (p.memory.throughput * stations.sms);
    return stations;
}

double groups_per_cycle(const Parameters& p, const Group& group, int warps) {
    if (warps == 0) return 0;
    double groups = std::min(warps / group_latency(p, group), group_throughput(p, group));
    double latency = latency_at(p, groups * group.memory);
    for (int round = 0;; ++round) {
        const Replayed found = replayed(stations_of(p, group, warps, latency));
        groups = (groups + found.throughput) / 2;
        // The measured latency under load includes waiting, which the replay adds itself.
        const double next = std::max(latency_at(p, 0), latency_at(p, groups * group.memory) - found.waiting);
        if (p.loaded_latency.empty() || round == kRounds || std::abs(next - latency) <= kSame * latency)
            return found.throughput;
        latency = (latency + next) / 2;
    }
}

Solution solve_gputomo_replay(const Parameters& p, const Group& group, double warps) {
    const double whole = std::floor(warps);
    const auto at = [&](double count) { return groups_per_cycle(p, group, static_cast<int>(count)); };
    double groups = at(whole);
    if (warps > whole) groups += (warps - whole) * (at(whole + 1) - groups);
    return {groups * group.instructions(),
            {{"latency", warps / groups, "cycles"}, {"throughput_bound", group_throughput(p, group), "groups/cycle"}}};
}

}  // namespace

Model gputomo_replay() {
    return {.id = "gputomo-replay",
            .title = "simulation of warps that share issue slots and queue for memory",
            .source = "gputomo; Volkov 2016, 4.12, 6.5, 7.10 for what it explains",
            .solve = solve_gputomo_replay};
}

}  // namespace gputomo::models
