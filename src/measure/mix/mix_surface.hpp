// Throughput over occupancy, arithmetic intensity, instruction-level parallelism and kind of access: the whole
// workload family of Volkov 2016, 4.1 and 4.7.
#pragma once

#include "measure/mix/mix_throughput.hpp"
#include "results/origin.hpp"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gputomo::measure {

/// One mix over occupancy.
struct MixCurve {
    MixShape shape;
    std::optional<double> sm_mhz;    ///< while it was measured, if the device tells
    std::vector<MixSample> samples;  ///< by occupancy; only occupancies that were attained
};

/// Curves of many mixes on one GPU.
struct MixSurface {
    std::string gpu;
    int sms = 0;
    int max_warps = 0;             ///< of an SM
    std::optional<double> sm_mhz;  ///< the driver's clock rate
    std::vector<MixCurve> curves;
    int checked_kernels = 0;  ///< kernels whose machine code passed its check
    std::vector<std::string> warnings;
    std::optional<results::Origin> origin;  ///< where and when it was measured
};

/// How many accesses and how many adds the repeating group of a mix has.
struct MixIntensity {
    int accesses = 1;
    int alpha = 1;
};

/// The mixes and occupancies that a surface covers: every combination of the lists.
struct MixPlan {
    std::vector<MixAccess> accesses;
    std::vector<MixIntensity> intensities;
    std::vector<int> chains;  ///< instruction-level parallelism
    std::vector<int> warps;   ///< on an SM
    bool adds_alone = true;
    /// Least time in us for which streams are counted (MixThroughput::set_least_window). Not given: 200 within a full
    /// budget and none within a small one.
    std::optional<double> window_us = {};
    /// Not given: the device's usual budget.
    std::optional<Budget> budget = {};
    std::optional<int> loop_length =
        {};              ///< Instructions of a loop iteration. Not given: as many as fit (fitting_loop_length()).
    double seconds = 0;  ///< mixes that do not begin within this time are left out; 0: no limit
};

/// Alpha over accesses: none at all, 1/8 to 1/2 in steps of 2, and 1 to 512 in steps of the square root of 2.
[[nodiscard]] std::vector<MixIntensity> mix_intensities();

/// Measures curve by curve, and repeats a curve during which the clock moved. Leaves out kinds of access that this GPU
/// does not have (caches) and mixes that exceed a loop iteration. `progress` as Run::progress.
[[nodiscard]] MixSurface measure_surface(device::Device& device, const MixPlan& plan,
                                         const std::function<void(double, std::string_view)>& progress);
/// Adds the curves to `surface`, which keeps what was measured if the device fails or the user stops.
void add_to_surface(device::Device& device, const MixPlan& plan,
                    const std::function<void(double, std::string_view)>& progress, MixSurface& surface);

}  // namespace gputomo::measure
