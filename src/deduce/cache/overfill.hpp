// What arrays around and beyond a cache's capacity tell of it: how many loads still hit (Mei 2014, Figs. 9 and 11), and
// whether some that miss are served by another partition of the cache.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace gputomo::deduce {

/// Latencies of loads of one array that was walked until they no longer change, cycles.
struct OverfillReading {
    std::uint64_t bytes = 0;
    std::vector<double> latencies;
};

struct Overfill {
    struct Point {
        std::uint64_t bytes = 0;
        double hit = 0;  ///< share of the loads
        double far = 0;  ///< share of those that miss here, but are faster than what the largest array's loads take
    };
    std::vector<Point> points;  ///< by size
    /// Bytes of the array of which half still hits, and of the largest of which all do, and the smallest of which none
    /// does. Only where hits end so soon that what was used longest ago must go first: then sets of unequal fill
    /// overflow around the capacity.
    std::optional<std::uint64_t> capacity;
    std::array<std::uint64_t, 2> bracket{};
    /// Where a constant share of the misses beyond the capacity is faster than memory, and no longer so in arrays some
    /// times as large: a cache in so many equal parts, of which one is near, and a copy of what others hold is kept in
    /// the near one. Else 0.
    std::int64_t partitions = 0;
    double far_latency = 0;                ///< of such a load, median, cycles
    std::array<double, 2> far_interval{};  ///< that holds 90% of them
};

/// `border`: loads slower than this, in cycles, missed. The largest array has to be several times the cache.
[[nodiscard]] Overfill deduce_overfill(std::vector<OverfillReading> readings, double border);

}  // namespace gputomo::deduce
