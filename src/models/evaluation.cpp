#include "models/evaluation.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>

namespace gputomo::models {
namespace {

Evaluation evaluated(const Model& model, const Parameters& parameters, const MeasuredMix& measured) {
    Evaluation result{.model = model.id,
                      .mix = measured.mix,
                      .smallest = std::numeric_limits<double>::infinity(),
                      .largest = -std::numeric_limits<double>::infinity(),
                      .needed_estimated = {},
                      .needed_measured = {},
                      .estimated = {}};
    const double target = kHidden * peak_instructions_per_cycle(parameters, measured.mix);
    for (const auto& [warps, throughput] : measured.throughput) {
        const double estimate = solve(model, parameters, measured.mix, warps).instructions_per_cycle;
        result.estimated[warps] = estimate;
        result.smallest = std::min(result.smallest, estimate / throughput);
        result.largest = std::max(result.largest, estimate / throughput);
        result.mean_error +=
            std::max(estimate / throughput, throughput / estimate) / static_cast<double>(measured.throughput.size());
        if (estimate >= target && !result.needed_estimated) result.needed_estimated = static_cast<int>(warps);
        if (throughput >= target && !result.needed_measured) result.needed_measured = static_cast<int>(warps);
    }
    return result;
}

}  // namespace

std::vector<ModelError> overall(const std::vector<Evaluation>& evaluations) {
    std::vector<ModelError> models;
    std::size_t mixes = 0;
    for (const auto& e : evaluations) {
        if (models.empty() || models.back().model != e.model)
            models.push_back({e.model, e.smallest, e.largest, 0}), mixes = 0;
        auto& model = models.back();
        model.smallest = std::min(model.smallest, e.smallest);
        model.largest = std::max(model.largest, e.largest);
        model.mean_error += (e.mean_error - model.mean_error) / static_cast<double>(++mixes);
    }
    return models;
}

std::vector<Evaluation> evaluate(const Parameters& parameters, const std::vector<MeasuredMix>& surface) {
    std::vector<Evaluation> results;
    for (const auto& model : catalogue())
        for (const auto& measured : surface)
            if (!measured.throughput.empty()) results.push_back(evaluated(model, parameters, measured));
    return results;
}

}  // namespace gputomo::models
