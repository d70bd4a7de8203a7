// How long misses take, as far as slow loads show it: what is as slow as no miss is was slow by accident.
#pragma once

#include <array>
#include <vector>

namespace gputomo::deduce::cache {

/// Where nearly all misses lie, as a sorted list of intervals in cycles: around the shortest one that holds a good part
/// of the slow readings, and around others of that width that hold some, such as those of a farther partition.
class MissLatencies {
public:
    MissLatencies() = default;
    /// From readings of which those above `threshold` are misses, most of them.
    MissLatencies(const std::vector<double>& latencies, double threshold);
    /// Whether a slow reading may be a miss; always, where too few were seen to tell.
    [[nodiscard]] bool contains(double latency) const;
    [[nodiscard]] bool known() const { return !intervals_.empty(); }

private:
    void add(std::array<double, 2> interval);
    std::vector<std::array<double, 2>> intervals_;  ///< empty: too few misses to tell
};

}  // namespace gputomo::deduce::cache
