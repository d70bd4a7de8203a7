// Times in which a whole memory stands still, found in the latencies of loads of several independent chains.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace gputomo::deduce {

/// One load of a chain in which each load waits for the last, on a clock that all chains have in common.
struct TimedLoad {
    double begin = 0, end = 0;  ///< cycles
    std::uint32_t chain = 0;
};

/// A time at whose end loads of several chains came late, all at once.
struct Stall {
    double end = 0;            ///< cycles; when the first of its loads were there
    double longest_delay = 0;  ///< most that one of them was late, cycles
    std::size_t chains = 0;    ///< that had to wait
};

struct MemoryPauses {
    enum class Verdict { regular, none, open };
    Verdict verdict = Verdict::open;
    double interval = 0, interval_low = 0, interval_high = 0;  ///< cycles from pause to pause; of `regular`
    double duration = 0, duration_low = 0, duration_high = 0;  ///< cycles that one lasts
    double median_latency = 0;                                 ///< latency of a load, cycles
    double late_threshold = 0;                                 ///< loads are late from so many cycles beyond that on
    double span = 0;                                           ///< cycles from the first load to the last
    std::vector<Stall> stalls;                                 ///< those that count, in order
    std::string why;
};

/// A load that comes late may have met a queue or a page; where loads of several chains come late at the same time,
/// memory stood still. What comes while it stands still waits for its end, all other loads don't: where the two part is
/// when the pause began. Pauses are decided where four fifths of the times between stalls are multiples of one
/// interval. Throws std::invalid_argument for fewer than two chains.
[[nodiscard]] MemoryPauses find_pauses(std::span<const TimedLoad> loads);

}  // namespace gputomo::deduce
