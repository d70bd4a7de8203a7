// Throughput over occupancy, arithmetic intensity, instruction-level parallelism and kind of access: the whole workload
// family of Volkov 2016, 4.1 and 4.7.
#pragma once

#include "measure/mix/mix_throughput.hpp"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gputomo::measure {

/// One mix over occupancy.
struct MixCurve {
    MixShape shape;
    std::optional<double> sm_mhz;    ///< while it was measured, where the device tells
    std::vector<MixSample> samples;  ///< by occupancy; only those that were attained
};

struct MixSurface {
    std::string gpu;
    int sms = 0;
    int max_warps = 0;             ///< of an SM
    std::optional<double> sm_mhz;  ///< the driver's clock rate
    std::vector<MixCurve> curves;
    int checked_kernels = 0;  ///< whose machine code was found to be as written
    std::vector<std::string> warnings;
};

/// Numbers of the two kinds of instruction in the repeating group.
struct MixIntensity {
    int accesses = 1;
    int alpha = 1;
};

struct MixPlan {
    std::vector<MixAccess> accesses;
    std::vector<MixIntensity> intensities;
    std::vector<int> chains;  ///< instruction-level parallelism
    std::vector<int> warps;   ///< of an SM
    bool adds_alone = true;
    /// Least time in us for which streams are counted (MixThroughput::set_least_window). Not given: 200 within a full
    /// budget and none within a small one.
    std::optional<double> window_us = {};
    /// Not given: the device's usual budget.
    std::optional<Budget> budget = {};
    std::optional<int> loop_length =
        {};              ///< instructions of a turn; as many as fit (fitting_loop_length.hpp) where not given
    double seconds = 0;  ///< curves that don't begin within this time are left out; 0: none
};

/// 1/8 to 512 in steps of the square root of 2 from 1 on, of 2 below, and none at all.
[[nodiscard]] std::vector<MixIntensity> mix_intensities();

/// Curve by curve; one during which the clock moved is measured again. Kinds of access that this GPU has not (caches)
/// are left out, and mixes that don't fit a turn. `progress` as Context::progress.
[[nodiscard]] MixSurface measure_surface(device::Device& device, const MixPlan& plan,
                                         const std::function<void(double, std::string_view)>& progress);
/// The same, curve by curve into `surface`, which keeps what was measured when the device fails or the user stops.
void add_to_surface(device::Device& device, const MixPlan& plan,
                    const std::function<void(double, std::string_view)>& progress, MixSurface& surface);

}  // namespace gputomo::measure
