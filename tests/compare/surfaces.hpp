// Measured throughput surfaces made by hand or by a model, whose right evaluation is known.
#pragma once

#include "measure/mix/mix_surface.hpp"
#include "models/model.hpp"

#include <map>
#include <string_view>

namespace gputomo::compare::testing {

/// An SM with 4 schedulers and 64 warps, whose memory limits mixes of few adds.
inline models::Parameters parameters() {
    models::Parameters p;
    p.gpu = "Test GPU";
    p.schedulers = 4;
    p.max_warps = 64;
    p.memory = {400, 0.1};
    p.arithmetic = {4, 4};
    p.issue_throughput = 4;
    return p;
}

inline measure::MixCurve curve(const measure::MixShape& shape, const std::map<int, double>& rates) {
    measure::MixCurve made{.shape = shape, .sm_mhz = {}, .samples = {}};
    for (const auto& [warps, rate] : rates) made.samples.push_back({.warps = warps, .instructions_per_cycle = rate});
    return made;
}

/// What a GPU would measure that behaves exactly as the model says, at `warps` numbers of warps per SM.
inline measure::MixCurve curve_of_model(std::string_view model, int alpha, const std::vector<int>& warps) {
    std::map<int, double> rates;
    for (const int n : warps)
        rates[n] = models::solve(models::find_model(model), parameters(), {.alpha = static_cast<double>(alpha)}, n)
                       .instructions_per_cycle;
    return curve({.alpha = alpha}, rates);
}

inline measure::MixSurface surface(std::vector<measure::MixCurve> curves) {
    return {.gpu = "Test GPU", .sms = 2, .max_warps = 64, .sm_mhz = {}, .curves = std::move(curves)};
}

}  // namespace gputomo::compare::testing
