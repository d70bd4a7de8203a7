// Warps of several SMs that take turns at issue, slot by slot, and wait in a queue for memory: what an exact simulation
// of nothing but these two gives.
#pragma once

namespace gputomo::models {

/// What of a GPU and of the repeating group of a mix takes time: arithmetic, each instruction waiting for the last one,
/// then one access. Cycles.
struct ReplayStations {
    int sms = 1;             ///< of which each stands for several
    int schedulers = 1;      ///< of an SM
    int warps = 1;           ///< of an SM, dealt out to its schedulers in turn
    int servers = 1;         ///< of accesses; schedulers have equal shares of them
    double adds = 0;         ///< arithmetic instructions of a group; a fraction: in so many of the groups one more
    double accesses = 1;     ///< of a group: 1, or 0 for arithmetic alone
    double add_latency = 1;  ///< from an add to the next one of its warp
    double add_slot =
        1;  ///< that the scheduler issues nothing else because of an add; a fraction: one more for so many of them
    double access_slot = 1;   ///< the same of an access
    double access_holds = 0;  ///< further cycles in which nothing is added, one half when an access has been issued and
                              ///< one when it is answered: the registers' ports are its own
    double access_latency = 1;  ///< from an access that doesn't queue to the next instruction of its warp
    double latency_spread = 0;  ///< part of it by which it differs from time to time
    double service = 0;         ///< that its server can do nothing else
};

struct Replayed {
    double throughput = 0;  ///< groups per cycle and SM
    double waiting = 0;     ///< mean cycles from an access to the time that its server begins with it
};

/// In the long run; the same every time: what is random comes from one seed.
[[nodiscard]] Replayed replayed(const ReplayStations& stations);

}  // namespace gputomo::models
