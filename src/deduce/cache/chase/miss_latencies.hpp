// Latencies that misses take, learnt from slow loads: a slow load of another latency is an outlier.
#pragma once

#include <array>
#include <vector>

namespace gputomo::deduce::cache {

/// Intervals of latency, in cycles, that contain nearly all misses. One lies around the shortest interval with a good
/// part of the slow readings. Others of that width lie around smaller groups, such as the misses that a farther
/// partition serves.
class MissLatencies {
public:
    MissLatencies() = default;
    /// Most readings above `threshold` (cycles) must be misses.
    MissLatencies(const std::vector<double>& latencies, double threshold);
    /// Whether a slow reading may be a miss. Always true where too few slow readings were seen.
    [[nodiscard]] bool contains(double latency) const;
    [[nodiscard]] bool known() const { return !intervals_.empty(); }

private:
    void add(std::array<double, 2> interval);
    std::vector<std::array<double, 2>> intervals_;  ///< sorted and disjoint; empty: too few slow readings
};

}  // namespace gputomo::deduce::cache
