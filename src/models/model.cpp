#include "models/models.hpp"

#include "units/error.hpp"
#include "units/warp.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

namespace gputomo::models {
Group group_of(const Mix& mix) {
    if (std::isinf(mix.alpha)) return {.memory = 0, .arithmetic = 1};
    return {.memory = 1, .arithmetic = mix.alpha};
}

double Solution::term(std::string_view name) const {
    for (const auto& term : terms)
        if (term.name == name) return term.value;
    throw std::out_of_range(fmt::format("Solution::term: the model has no term '{}'", name));
}

const Model& find_model(std::string_view id) {
    std::vector<std::string_view> ids;
    for (const auto& model : catalogue()) {
        if (model.id == id) return model;
        ids.push_back(model.id);
    }
    throw InputError(fmt::format("model '{}': expected one of {}", id, fmt::join(ids, ", ")));
}

Solution solve(const Model& model, const Parameters& parameters, const Mix& mix, double warps) {
    return model.solve(parameters, group_of(mix), warps * mix.ilp);
}

double adds_per_cycle(const Mix& mix, double instructions_per_cycle) {
    const Group group = group_of(mix);
    return kWarpSize * instructions_per_cycle * group.arithmetic / group.instructions();
}

double accesses_per_cycle(const Mix& mix, double instructions_per_cycle) {
    const Group group = group_of(mix);
    return instructions_per_cycle * group.memory / group.instructions();
}

double peak_instructions_per_cycle(const Parameters& parameters, const Mix& mix) {
    const Group group = group_of(mix);
    return group_throughput(parameters, group) * group.instructions();
}

std::optional<int> warps_to_reach(const Model& model, const Parameters& parameters, const Mix& mix, double fraction,
                                  int most) {
    const double target = fraction * peak_instructions_per_cycle(parameters, mix);
    for (int warps = 1; warps <= most; ++warps)
        if (solve(model, parameters, mix, warps).instructions_per_cycle >= target) return warps;
    return std::nullopt;
}

std::optional<double> needed_warps(const Model& model, const Parameters& parameters, const Mix& mix) {
    if (model.needed_warps == nullptr) return std::nullopt;
    return model.needed_warps(parameters, group_of(mix)) / mix.ilp;
}

double arithmetic_latency(const Parameters& parameters, const Group& group) {
    return group.arithmetic * parameters.arithmetic.latency;
}

double group_latency(const Parameters& parameters, const Group& group) {
    // With less than one add per access, only the share alpha of the accesses is followed by an add.
    const double followed = std::min(1.0, group.arithmetic);
    const double to_arithmetic = parameters.latency_to_arithmetic.value_or(parameters.memory.latency);
    return group.memory * (followed * to_arithmetic + (1 - followed) * parameters.memory.latency) +
           arithmetic_latency(parameters, group);
}

double group_throughput(const Parameters& parameters, const Group& group) {
    const auto limit = [](double rate, double count) {
        return count > 0 ? rate / count : std::numeric_limits<double>::infinity();
    };
    return std::min({limit(parameters.memory.throughput, group.memory),
                     limit(parameters.arithmetic.throughput, group.arithmetic),
                     limit(parameters.issue_throughput, group.instructions())});
}

double instruction_time(const Parameters& parameters) { return 1 / parameters.arithmetic.throughput; }

double linear_to_peak(const Parameters& parameters, double warps, double needed) {
    return parameters.arithmetic.throughput * (warps < needed ? warps / needed : 1);
}

Solution coarse_multithreading(const Parameters& parameters, const Group& group, double warps, double needed) {
    return {linear_to_peak(parameters, warps, needed),
            {{"R", instruction_time(parameters) * group.instructions(), "cycles"},
             {"L", group.memory * parameters.memory.latency, "cycles"},
             {"threads_needed", needed, "warps/SM"}}};
}

}  // namespace gputomo::models
