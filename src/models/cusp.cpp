#include "models/cusp.hpp"

#include <algorithm>
#include <vector>

namespace gputomo::models {
namespace {

Need need_of(const Parameters& p, const Mix& mix, const Curve& throughput) {
    const double peak = peak_instructions_per_cycle(p, mix);
    Need need;
    for (const auto& [warps, instructions] : throughput) {
        need.attained = std::max(need.attained, instructions / peak);
        if (!need.warps && instructions >= kHidden * peak) need.warps = static_cast<int>(warps);
    }
    return need;
}

/// Whether both need the same number of warps, or no number is enough for both.
bool alike(const Need& a, const Need& b) { return a.warps == b.warps; }

/// Whether one needs more than the other. If no number of warps is enough for either, the attained shares must differ
/// by more than repeated measurements.
bool more(const Need& one, const Need& other) {
    constexpr double kRepeats = 0.02;  // relative difference between two measured surfaces of one GPU
    if (one.warps && other.warps) return *one.warps > *other.warps;
    if (one.warps || other.warps) return !one.warps;
    return one.attained < (1 - kRepeats) * other.attained;
}

/// The alpha that needs most; the middle one of those that need as many.
double top_of(const Needs& needs) {
    const auto top = std::ranges::max_element(needs, [](const auto& a, const auto& b) {
        if (!a.second.warps && !b.second.warps) return a.second.attained > b.second.attained;
        return more(b.second, a.second);
    });
    if (!top->second.warps) return top->first;
    std::vector<double> as_many;
    for (const auto& [alpha, need] : needs)
        if (alike(need, top->second)) as_many.push_back(alpha);
    return as_many[(as_many.size() - 1) / 2];
}

}  // namespace

Needs measured_needs(const Parameters& parameters, const std::vector<MeasuredMix>& surface) {
    Needs needs;
    for (const auto& measured : surface)
        if (!measured.throughput.empty())
            needs[measured.mix.alpha] = need_of(parameters, measured.mix, measured.throughput);
    if (!parameters.memory_curve.empty()) needs[0] = need_of(parameters, {.alpha = 0}, parameters.memory_curve);
    if (!parameters.arithmetic_curve.empty())
        needs[Mix::kArithmeticOnly] = need_of(parameters, {.alpha = Mix::kArithmeticOnly}, parameters.arithmetic_curve);
    return needs;
}

Needs estimated_needs(const Model& model, const Parameters& parameters, const Needs& measured, double ilp, int most) {
    Needs needs;
    for (const auto& [alpha, unused] : measured) {
        Curve throughput;
        for (int warps = 1; warps <= most; ++warps)
            throughput[warps] = solve(model, parameters, {alpha, ilp}, warps).instructions_per_cycle;
        needs[alpha] = need_of(parameters, {alpha, ilp}, throughput);
    }
    return needs;
}

std::optional<Cusp> cusp_of(const Needs& needs) {
    if (needs.empty()) return std::nullopt;
    const double alpha = top_of(needs);
    const Need& top = needs.at(alpha);
    const auto is_alike = [&](const auto& entry) { return alike(entry.second, top); };
    return Cusp{.warps = top.warps,
                .attained = top.attained,
                .alpha = alpha,
                .first_alpha = std::find_if(needs.begin(), needs.end(), is_alike)->first,
                .last_alpha = std::find_if(needs.rbegin(), needs.rend(), is_alike)->first,
                .above_both_ends = more(top, needs.begin()->second) && more(top, needs.rbegin()->second)};
}

}  // namespace gputomo::models
