// Compares models with measurement: their errors over occupancy, and the occupancy that they need (Volkov 2016, 7.9,
// 7.10).
#pragma once

#include "models/model.hpp"

#include <optional>
#include <string_view>
#include <vector>

namespace gputomo::models {

/// A measured mix.
struct MeasuredMix {
    Mix mix;
    Curve throughput;  ///< instructions per cycle and SM by warps per SM
};

struct Evaluation {
    std::string_view model;
    Mix mix;
    double smallest = 0;  ///< smallest estimate / measured over all occupancies
    double largest = 0;   ///< largest estimate / measured
    /// Mean over all occupancies of estimate / measured or its reciprocal, whichever is larger; 1: always right.
    double mean_error = 0;
    /// Fewest measured warps per SM with kHidden of the peak, by the model; nullopt if none reaches it.
    std::optional<int> needed_estimated;
    std::optional<int> needed_measured;  ///< fewest warps per SM with kHidden of the peak, by measurement
    Curve estimated;                     ///< instructions per cycle and SM at the measured occupancies
};

/// Latency counts as hidden from this share of the peak throughput on (Volkov 2016, Fig. 4.6).
inline constexpr double kHidden = 0.9;

/// Errors of one model over all mixes; the fields are as in Evaluation.
struct ModelError {
    std::string_view model;
    double smallest = 0;
    double largest = 0;
    double mean_error = 0;
};
[[nodiscard]] std::vector<ModelError> overall(const std::vector<Evaluation>& evaluations);

/// One evaluation for each model and mix with samples, ordered by model.
[[nodiscard]] std::vector<Evaluation> evaluate(const Parameters& parameters, const std::vector<MeasuredMix>& surface);

}  // namespace gputomo::models
