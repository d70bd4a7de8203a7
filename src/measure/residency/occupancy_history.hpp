// The number of warps on an SM over time, from the start and end of each warp of a launch (Volkov 2016, 5.6).
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

namespace gputomo::measure {

/// One warp of a launch. Times are those of its SM's clock, which may wrap round once.
struct WarpLifetime {
    std::uint32_t sm = 0;
    std::uint32_t start = 0;
    std::uint32_t end = 0;
    std::uint32_t unused = 0;
};

/// When a warp began and ended, in cycles since the first start of its SM.
struct WarpTimes {
    double start = 0, end = 0;
};
/// The times of all warps of each SM. Those of one SM stand in the order of `warps`.
[[nodiscard]] std::map<std::uint32_t, std::vector<WarpTimes>> times_by_sm(std::span<const WarpLifetime> warps);

/// The occupancy of all SMs during one launch.
struct OccupancyHistory {
    /// Warps that every SM held at its maximum.
    int attained = 0;
    /// Warps of an SM: the mean over time and SMs, from each SM's first start to its last end.
    double mean = 0;
    /// Cycles from the first start to the last end, of the SM that took longest.
    double cycles = 0;
    /// Share of that time, over all SMs, with 0, 1, 2, ... warps. `middle` covers only the middle half of the time,
    /// without the first and last warps.
    std::vector<double> shares, middle;
    /// `ended_early`: share of an SM's warps that have ended after two thirds of its time. `tail`: share of its time
    /// after it last held half of its maximum. Means over SMs.
    double ended_early = 0, tail = 0;
};

/// The largest number of warps that SMs hold for all but the share `part` of the time. `shares` are as in
/// OccupancyHistory.
[[nodiscard]] int all_but(const std::vector<double>& shares, double part);

/// Throws std::logic_error if there are no warps.
[[nodiscard]] OccupancyHistory history_of(std::span<const WarpLifetime> warps);

/// Warps of one SM from a moment on.
struct OccupancyStep {
    double cycles = 0;  ///< since the first start
    int warps = 0;
};
/// Steps of this SM in order of time. Starts and ends at the same moment make one step. Empty if the SM had no warps.
[[nodiscard]] std::vector<OccupancyStep> steps_of(std::span<const WarpLifetime> warps, std::uint32_t sm);

}  // namespace gputomo::measure
