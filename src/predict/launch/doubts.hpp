// What a prediction takes for granted, checked against what the launch does: each doubt is a warning with its size.
#pragma once

#include "launch/profile/launch_profile.hpp"
#include "machine/machine.hpp"
#include "predict/launch/launch_prediction.hpp"
#include "predict/launch/sm_rates.hpp"

#include <string>
#include <vector>

namespace gputomo::predict {

/// Share of stores that write sectors in part, from which on answers warn. A few of them, at the edges of arrays,
/// change no launch's time by a tenth. The factor is how far off the worst of such launches was on an H200
/// (`hostile/odd_strides` of suites/own.json). Its stores leave an SM together more often than those of answers.
inline constexpr double kPartialShare = 0.25, kPartialFactor = 1.7;
/// Share of the time for which stores to lines on their way from DRAM block parts of the L2. From this share on, the
/// time of a launch is uncertain.
inline constexpr double kFillingShare = 0.1;

/// The launch as it was predicted, without its warnings.
struct PredictedLaunch {
    const launch::LaunchProfile& profile;
    const LaunchPrediction& prediction;
    const SmRates& rates;
    const machine::Machine& machine;
};

/// Empty for a launch that does nothing unusual.
[[nodiscard]] std::vector<std::string> doubts_of(const PredictedLaunch& launch);

}  // namespace gputomo::predict
