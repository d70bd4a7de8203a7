// Finds the pauses of a memory in the latencies of several independent pointer chases: how often and for how long.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace gputomo::deduce {

/// One load of a pointer chase. All chains read the same clock.
struct TimedLoad {
    double begin = 0, end = 0;  ///< cycles
    std::uint32_t chain = 0;
};

/// A time in which loads of several chains were held up, to complete together at its end.
struct Stall {
    double end = 0;            ///< cycles; the first quartile of its loads' completions
    double longest_delay = 0;  ///< cycles beyond the median latency, of the slowest of its loads
    std::size_t chains = 0;    ///< chains with a load that had to wait
};

struct MemoryPauses {
    enum class Verdict { regular, none, open };
    Verdict verdict = Verdict::open;
    double interval = 0, interval_low = 0, interval_high = 0;  ///< cycles from pause to pause; set if `regular`
    double duration = 0, duration_low = 0, duration_high = 0;  ///< cycles that a pause lasts
    double median_latency = 0;                                 ///< cycles of a load
    double late_threshold = 0;                                 ///< cycles beyond the median from which a load is late
    double span = 0;                                           ///< cycles from the first load to the last
    std::vector<Stall> stalls;  ///< the stalls that the verdict rests on, in order of time
    std::string why;
};

/// A single late load may have met a queue or a page miss; loads of several chains that are late together met a pause
/// of the memory. Loads that arrive during a pause wait for its end and all others do not, which dates its start.
/// The verdict is `regular` if at least 80% of the times between stalls are multiples of one interval.
/// Throws std::invalid_argument for fewer than two chains.
[[nodiscard]] MemoryPauses find_pauses(std::span<const TimedLoad> loads);

}  // namespace gputomo::deduce
