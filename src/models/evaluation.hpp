// Models against measurement: how far off each is over occupancies, and which occupancy each says is needed (Volkov
// 2016, 7.9, 7.10).
#pragma once

#include "models/model.hpp"

#include <optional>
#include <string_view>
#include <vector>

namespace gputomo::models {

/// Measured instructions per cycle and SM of one mix by warps per SM.
struct MeasuredMix {
    Mix mix;
    Curve throughput;
};

struct Evaluation {
    std::string_view model;
    Mix mix;
    double smallest = 0;  ///< of estimate / measured over occupancies
    double largest = 0;
    double mean_error =
        0;  ///< of estimate / measured or its reciprocal, whichever is larger, over occupancies; 1 where all are right
    std::optional<int>
        needed_estimated;  ///< warps per SM for 90% of the peak; nothing where no measured occupancy has it
    std::optional<int> needed_measured;
    Curve estimated;  ///< instructions per cycle and SM by warps, where it was measured
};

/// The share of a peak that counts as attained where latency is hidden (Fig. 4.6).
inline constexpr double kHidden = 0.9;

/// One model over all mixes.
struct ModelError {
    std::string_view model;
    double smallest = 0;
    double largest = 0;
    double mean_error = 0;
};
[[nodiscard]] std::vector<ModelError> overall(const std::vector<Evaluation>& evaluations);

/// Every model and mix, models first.
[[nodiscard]] std::vector<Evaluation> evaluate(const Parameters& parameters, const std::vector<MeasuredMix>& surface);

}  // namespace gputomo::models
