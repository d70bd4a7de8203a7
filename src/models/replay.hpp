// Warps of several SMs that take turns at issue and wait in a queue for memory: what an exact simulation of nothing but these two gives.
#pragma once

namespace gputomo::models {

/// What of a GPU and of the repeating group of a mix takes time: one stretch of arithmetic, then one access.
struct ReplayStations {
    int sms = 1;         ///< of which each stands for several
    int schedulers = 1;  ///< of an SM
    int warps = 1;       ///< of an SM, dealt out to its schedulers in turn
    int servers = 1;     ///< of accesses; schedulers have equal shares of them
    double work = 0;     ///< arithmetic instructions, with what the access takes of the issue slots
    double alone = 1;    ///< cycles of an arithmetic instruction of a warp alone
    double slot = 1;     ///< cycles of it that its scheduler can do nothing else
    double delay = 0;    ///< cycles of an access that doesn't queue
    double service = 0;  ///< cycles of it that its server can do nothing else
};

/// Groups per cycle and SM in the long run, the same every time: what is random comes from one seed.
[[nodiscard]] double replayed_throughput(const ReplayStations& stations);

}  // namespace gputomo::models
