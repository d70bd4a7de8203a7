#include "compare/mixes/evaluation.hpp"

#include "measure/mix/mix_sweeps.hpp"
#include "measure/mix/model_plan.hpp"
#include "units/error.hpp"

#include <fmt/format.h>

#include <utility>

namespace gputomo::compare {
namespace {

/// A cache that all SMs share is saturated by this number of chains in each warp at full occupancy.
constexpr int kSaturatingChains = 8;
/// A model may need more warps than an SM holds; the search for them ends here.
constexpr int kMaxEstimatedWarps = 256;
/// The models whose cusp the thesis draws (Volkov 2016, Fig. 4.6).
constexpr std::string_view kCuspModels[] = {"volkov-basic", "volkov-contention"};

std::vector<NeededWarps> needed_warps(const measure::MixSurface& surface, MixChoice choice, models::Parameters p) {
    choice.every_occupancy = true;
    const auto mixes = judged_mixes(surface, choice, p);
    std::vector<NeededWarps> all{{"measured", models::measured_needs(p, mixes)}};
    for (const auto model : kCuspModels) {
        if (model == "volkov-contention" && !p.contention) continue;
        all.push_back({model, models::estimated_needs(models::find_model(model), p, all.front().needs, choice.chains,
                                                      kMaxEstimatedWarps)});
    }
    return all;
}

}  // namespace

const std::vector<std::string>& parameter_experiments() {
    static const std::vector<std::string> kIds{
        "attributes",        "clock",  "arithmetic_latency", "arithmetic_throughput", "shared_latency",
        "shared_throughput", "caches", "dram_bandwidth"};
    return kIds;
}

models::Parameters evaluation_parameters(const machine::Machine& machine, models::Access access,
                                         const std::string& origin) {
    auto parameters = models::parameters_of(machine, access, origin);
    if (parameters.max_warps < 1)
        throw InputError(fmt::format("{}: topology.max_threads_per_sm: missing; expected a number", origin));
    return parameters;
}

measure::MixSurface measure_mixes(device::Device& device, const models::Parameters& p, const MixRequest& request,
                                  const std::function<void(double, std::string_view)>& progress) {
    measure::ModelMixes mixes{.access = mix_access(p.access),
                              .chains = request.chains,
                              .schedulers = p.schedulers,
                              .max_warps = p.max_warps,
                              .loop_length = request.loop_length};
    if (p.access == models::Access::global || p.access == models::Access::l2 || p.memory.throughput == 0)
        mixes.intensities.push_back({1, 0});
    for (const int alpha : request.alphas.empty() ? measure::mix_alphas(request.quick) : request.alphas)
        mixes.intensities.push_back({1, alpha});
    const auto plan = plan_of(mixes);
    auto surface = measure::measure_surface(device, plan, progress);
    if (p.memory.throughput > 0) return surface;
    const auto saturated = measure::measure_surface(device,
                                                    {.accesses = plan.accesses,
                                                     .intensities = {{1, 0}},
                                                     .chains = {kSaturatingChains},
                                                     .warps = {p.max_warps},
                                                     .adds_alone = false,
                                                     .loop_length = measure::kLoopLength},
                                                    progress);
    surface.curves.insert(surface.curves.end(), saturated.curves.begin(), saturated.curves.end());
    return surface;
}

MixEvaluation evaluate(const measure::MixSurface& surface, models::Parameters parameters, const MixChoice& choice,
                       const std::string& origin) {
    MixEvaluation evaluation{.parameters = std::move(parameters), .mixes = {}, .models = {}, .needed = {}};
    auto& p = evaluation.parameters;
    evaluation.mixes = judged_mixes(surface, choice, p);
    const auto access = models::name_of(p.access);
    if (evaluation.mixes.empty())
        throw InputError(
            fmt::format("{}: no mixes of {} and adds with {} chains per warp; expected a surface that has "
                        "them (gputomo surface --access {} --ilp {})",
                        origin, access, choice.chains, access, choice.chains));
    if (p.memory.throughput == 0)
        throw InputError(
            fmt::format("{}: no curve of {} accesses alone, and the description has no throughput of them; "
                        "expected one of the two (gputomo surface --access {} --alpha 0)",
                        origin, access, access));
    evaluation.models = models::evaluate(p, evaluation.mixes);
    evaluation.needed = needed_warps(surface, choice, p);
    return evaluation;
}

}  // namespace gputomo::compare
