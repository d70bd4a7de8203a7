// Model parameters of the five GPUs of Volkov 2016, and of the synthetic GPU of Huang et al.
#pragma once

#include "machine/json.hpp"
#include "models/model.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

namespace gputomo::models::testing {

inline Parameters gpu(const std::string& name, Access access = Access::global) {
    return parameters_of(machine::load(std::string(GPUTOMO_SOURCE_DIR) + "/machines/" + name + ".json"), access, name);
}

inline constexpr std::array kGpus = {"8800gtx", "gtx280", "gtx480", "gtx680", "gtx980"};

/// Volkov 2016, 7.7: s = 0.667 cycles, 16 cores, memory latency 300 and arithmetic latency 25 cycles, 1 issue per
/// cycle.
inline Parameters synthetic_gpu() {
    Parameters p;
    p.gpu = "synthetic";
    p.sms = 16;
    p.max_warps = 32;
    p.arithmetic = {25, 1};
    p.memory = {300, 192.0 / (128 * 16)};
    p.pin_bandwidth = 192;
    return p;
}

inline double ipc(std::string_view model, const Parameters& p, double alpha, double warps, double ilp = 1) {
    return solve(find_model(model), p, {alpha, ilp}, warps).instructions_per_cycle;
}

inline double adds(std::string_view model, const Parameters& p, double alpha, double warps) {
    return adds_per_cycle({alpha}, ipc(model, p, alpha, warps));
}

inline double term(std::string_view model, const Parameters& p, double alpha, double warps, std::string_view name) {
    return solve(find_model(model), p, {alpha}, warps).term(name);
}

/// The largest of a / b over all occupancies.
inline double largest_ratio(std::string_view a, std::string_view b, const Parameters& p, double alpha) {
    double largest = 0;
    for (int warps = p.schedulers; warps <= p.max_warps; warps += p.schedulers)
        largest = std::max(largest, ipc(a, p, alpha, warps) / ipc(b, p, alpha, warps));
    return largest;
}

}  // namespace gputomo::models::testing
