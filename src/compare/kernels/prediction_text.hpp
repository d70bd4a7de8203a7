// Shows a prediction as text for the terminal and as JSON.
#pragma once

#include "predict/static/prediction.hpp"

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace gputomo::compare {

/// For the terminal: bounds, worksheet, throughput against occupancy, what would change them, and assumptions.
[[nodiscard]] std::string prediction_text(const predict::Prediction& prediction);
/// Schema gputomo-prediction-1. A throughput that cannot be reached is null.
[[nodiscard]] nlohmann::ordered_json prediction_json(const predict::Prediction& prediction);

}  // namespace gputomo::compare
