// Refreshes of the memory's parts, from pairs of loads of one part.
#pragma once

#include <optional>
#include <span>
#include <string>

namespace gputomo::deduce {

/// Two loads of neighbouring lines, one after the other, in cycles.
struct LoadPair {
    struct Load {
        double begin = 0, end = 0;
        [[nodiscard]] double latency() const { return end - begin; }
    };
    Load first, second;
};

struct MemoryRefresh {
    enum class Verdict { found, none, open };
    Verdict verdict = Verdict::open;
    double interval = 0, interval_low = 0, interval_high = 0;  ///< cycles
    double time = 0, time_low = 0, time_high = 0;              ///< cycles
    std::string why;
};

/// A line's part of the memory is refreshed at regular times, and a load that comes meanwhile waits for the end. Where
/// both loads of a pair waited, their ends are a multiple of the interval apart. How many loads waited says how long a
/// refresh takes. Throws std::invalid_argument without pairs.
[[nodiscard]] MemoryRefresh find_refresh(std::span<const LoadPair> pairs);

}  // namespace gputomo::deduce
