// Capacity and partitions of a cache, from the hit rates of arrays around and beyond its size (Mei 2014, Figs. 9, 11).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace gputomo::deduce {

/// Latencies in cycles of the loads of one array, read until they no longer change.
struct OverfillReading {
    std::uint64_t bytes = 0;
    std::vector<double> latencies;
};

struct Overfill {
    struct Point {
        std::uint64_t bytes = 0;
        double hit = 0;  ///< share of the loads that hit
        double far = 0;  ///< share of the loads that miss, but are faster than the largest array's, which memory serves
    };
    std::vector<Point> points;  ///< by size
    /// Bytes of the array of which half still hits. Reported only where hits end soon beyond it, as under replacement
    /// by age: sets of unequal fill then overflow around the capacity.
    std::optional<std::uint64_t> capacity;
    /// Bytes of the largest array of which all loads hit, and of the smallest of which none does.
    std::array<std::uint64_t, 2> bracket{};
    /// Number of equal partitions of the cache, each of which keeps copies of what others hold. Reported where a
    /// constant share of the misses beyond the capacity is faster than memory, and none in arrays several times as
    /// large. Else 0.
    std::int64_t partitions = 0;
    double far_latency = 0;                ///< median of loads that another partition serves, cycles
    std::array<double, 2> far_interval{};  ///< cycles; contains 90% of them
};

/// `border`: cycles; slower loads missed. The largest array has to be several times the cache.
[[nodiscard]] Overfill deduce_overfill(std::vector<OverfillReading> readings, double border);

}  // namespace gputomo::deduce
