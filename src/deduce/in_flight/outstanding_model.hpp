// A small queueing description of how an SM keeps track of the accesses that it has under way (Lashgar 2015, section
// 2).
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace gputomo::deduce {

/// What takes one place in the table of outstanding requests, and so what saturation follows.
enum class OutstandingUnit : std::uint8_t {
    none,          ///< there is no limit within reach
    threads,       ///< each thread's access on its own
    sectors,       ///< each 32-byte piece of memory (a bound on bytes)
    lines,         ///< each distinct line of an instruction: status holding registers (MSHR)
    instructions,  ///< each warp's memory instruction: a pending request table (PRT)
};
[[nodiscard]] std::string_view name_of(OutstandingUnit unit);

/// One launch of a block: `loads` loads of each thread that loads at all, of which `share` neighbours ask for one line,
/// each for one of `sectors` sectors of it in turn.
struct OutstandingLaunch {
    int threads = 0;
    int loads = 1;
    int threads_per_line = 1;
    int sectors_per_line = 1;
    int active_lanes = 32;  ///< threads of each warp that load, the first ones
};

struct OutstandingPoint {
    OutstandingLaunch launch;
    double cycles = 0;
};

/// Lines, sectors, threads or instructions that the launch asks for in all.
[[nodiscard]] int units_of(const OutstandingLaunch& launch, OutstandingUnit unit);

/// All times in cycles.
struct OutstandingModel {
    OutstandingUnit unit = OutstandingUnit::none;
    int entries = 0;         ///< of the table, for the whole SM
    int warp_loads = 0;      ///< loads of one warp under way; 0: no limit
    double overhead = 0;     ///< of the measurement itself
    double latency = 0;      ///< of one access
    double spacing = 1;      ///< between the requests of one instruction: memory issue and write-back serialisation
    double issue = 1;        ///< between the instructions of different warps
    double gap = 1;          ///< between two loads of one warp
    double service = 0;      ///< each line's time in whatever serves all requests of the SM one after the other
    double use_latency = 0;  ///< from a warp's last data to its end, for each of its loads: what waits for them is
                             ///< issued one after the other
    double warp_resume = 0;  ///< of the issue slots of all warps, that each warp takes after its data came ...
    double load_resume = 0;  ///< ... and each of its loads

    [[nodiscard]] double predict(const OutstandingLaunch& launch) const;
};

}  // namespace gputomo::deduce
