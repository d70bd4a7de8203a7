// A small queueing model of how an SM tracks its outstanding memory requests (Lashgar 2015, section 2).
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace gputomo::deduce {

/// What occupies one entry of the table of outstanding requests.
enum class OutstandingUnit : std::uint8_t {
    none,          ///< no table fills up within the surface
    threads,       ///< each thread's access
    sectors,       ///< each 32-byte sector (a limit on bytes in flight)
    lines,         ///< each distinct line of an instruction: miss status holding registers (MSHRs)
    instructions,  ///< each warp's memory instruction: a pending request table (PRT)
};
[[nodiscard]] std::string_view name_of(OutstandingUnit unit);

/// One launch of a block. Every active thread issues `loads` loads.
struct OutstandingLaunch {
    int threads = 0;
    int loads = 1;
    int threads_per_line = 1;  ///< neighbouring threads that load from one line
    int sectors_per_line = 1;  ///< sectors of the line that these threads ask for in turn
    int active_lanes = 32;     ///< threads of each warp that load, counted from lane 0
};

struct OutstandingPoint {
    OutstandingLaunch launch;
    double cycles = 0;
};

/// Entries that the whole launch needs if each `unit` occupies one.
[[nodiscard]] int units_of(const OutstandingLaunch& launch, OutstandingUnit unit);

/// All times are in cycles.
struct OutstandingModel {
    OutstandingUnit unit = OutstandingUnit::none;
    int entries = 0;      ///< entries of the table that the whole SM shares
    int warp_loads = 0;   ///< most loads of one warp in flight; 0: no limit
    double overhead = 0;  ///< time of the measurement itself
    double latency = 0;   ///< time of one access
    double spacing = 1;   ///< time between the requests of one instruction: memory issue and write-back serialisation
    double issue = 1;     ///< time between the instructions of different warps
    double gap = 1;       ///< time between two loads of one warp
    double service = 0;   ///< time of one line at the server that takes the SM's requests one after the other
    double use_latency = 0;  ///< time from a warp's last data to its end, per load: the loads' consumers issue in order
    double warp_resume = 0;  ///< issue time, shared by all warps, that a warp takes once its data are there
    double load_resume = 0;  ///< the further issue time that it takes for each of its loads

    [[nodiscard]] double predict(const OutstandingLaunch& launch) const;
};

}  // namespace gputomo::deduce
