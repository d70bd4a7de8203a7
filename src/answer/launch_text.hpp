// Shows the prediction of a launch as text for the terminal and as JSON.
#pragma once

#include "predict/launch/launch_prediction.hpp"

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace gputomo::answer {

/// For the terminal: time, what limits it, occupancy, bytes, hot instructions, and what all of that rests on.
[[nodiscard]] std::string launch_text(const predict::LaunchPrediction& prediction);
/// Schema gputomo-launch-prediction-1.
[[nodiscard]] nlohmann::ordered_json launch_json(const predict::LaunchPrediction& prediction);

}  // namespace gputomo::answer
