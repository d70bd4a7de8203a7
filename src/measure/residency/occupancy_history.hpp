// How many warps an SM holds over time, from when each of a launch's warps began and ended (Volkov 2016, 5.6).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace gputomo::measure {

/// One warp of a launch; times are those of its SM's clock, which may wrap round once.
struct WarpLifetime {
    std::uint32_t sm = 0;
    std::uint32_t start = 0;
    std::uint32_t end = 0;
    std::uint32_t unused = 0;
};

struct OccupancyHistory {
    /// Warps that every SM held at once, at its best.
    int attained = 0;
    /// Warps of an SM, the mean over time and SMs, each SM from its first start to its last end.
    double mean = 0;
    /// Cycles from the first start to the last end, of the SM where that is longest.
    double cycles = 0;
    /// Part of that time, all SMs together, with 0, 1, 2, ... warps; and of the middle half of it, when neither the
    /// first nor the last warps count.
    std::vector<double> shares, middle;
    /// Part of an SM's warps that have ended when two thirds of its time are over, and part of its time after it last
    /// had half of what it had at its best: means over SMs.
    double ended_early = 0, tail = 0;
};

/// The most warps of which SMs hold at least as many for all but `part` of the time that `shares` are parts of.
[[nodiscard]] int all_but(const std::vector<double>& shares, double part);

/// Throws std::logic_error for no warps.
[[nodiscard]] OccupancyHistory history_of(std::span<const WarpLifetime> warps);

/// Warps of one SM from a moment on.
struct OccupancyStep {
    double cycles = 0;  ///< since the first start
    int warps = 0;
};
/// Of the SM, in order; of starts and ends at one moment only what is left behind them. Empty where the SM had no
/// warps.
[[nodiscard]] std::vector<OccupancyStep> steps_of(std::span<const WarpLifetime> warps, std::uint32_t sm);

}  // namespace gputomo::measure
