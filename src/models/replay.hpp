// Simulates warps of several SMs that share issue slots and queue for memory, and nothing else.
#pragma once

namespace gputomo::models {

/// The simulated SMs and the repeating group of a mix: a chain of dependent adds, then one access. Times are in cycles.
struct ReplayStations {
    int sms = 1;             ///< simulated SMs, each of which stands for several
    int schedulers = 1;      ///< of an SM
    int warps = 1;           ///< of an SM, assigned to its schedulers in turn
    int servers = 1;         ///< servers of accesses; each serves an equal share of the schedulers
    double adds = 0;         ///< per group; with a fraction f, a share f of the groups has one add more
    double accesses = 1;     ///< per group: 1, or 0 for arithmetic alone
    double add_latency = 1;  ///< cycles from an add to the next instruction of its warp
    double add_slot =
        1;  ///< cycles for which an add occupies its scheduler; with a fraction f, a share f takes one more
    double access_slot = 1;  ///< cycles for which an access occupies its scheduler; fractions as above
    /// Further cycles without adds, half of them after an access is issued and half when its data return: it then uses
    /// the register ports.
    double access_holds = 0;
    double access_latency = 1;  ///< cycles from an access that does not queue to the next instruction of its warp
    double latency_spread = 0;  ///< single access latencies are uniformly distributed within this share of the mean
    double service = 0;         ///< cycles for which an access occupies its server
};

struct Replayed {
    double throughput = 0;  ///< groups per cycle and SM
    double waiting = 0;     ///< mean cycles for which an access waits for its server
};

/// Steady-state throughput. Deterministic: random numbers come from a fixed seed.
[[nodiscard]] Replayed replayed(const ReplayStations& stations);

}  // namespace gputomo::models
