// What a prediction takes for granted, checked against what the launch does: each doubt is a warning with its size.
#pragma once

#include "launch/profile/launch_profile.hpp"
#include "machine/machine.hpp"
#include "predict/launch/launch_prediction.hpp"
#include "predict/launch/sm_rates.hpp"

#include <string>
#include <vector>

namespace gputomo::predict {

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
