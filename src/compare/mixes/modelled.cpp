#include "compare/mixes/modelled.hpp"

#include "compare/mixes/judged_mixes.hpp"
#include "models/evaluation.hpp"
#include "units/error.hpp"

#include <algorithm>
#include <optional>
#include <string_view>

namespace gputomo::compare {
namespace {

using measure::MixAccess;

constexpr int kChains = 1;
/// Models shown before the reader chooses others: the one that fits best, and the thesis's basic model (Volkov 2016).
constexpr std::string_view kShown[] = {"gputomo-replay", "volkov-basic"};

struct AccessTitle {
    std::string_view title;
    MixAccess access;
    std::optional<models::Access> judged;  ///< the models' name of this access; empty where they have none
};
constexpr AccessTitle kAccesses[] = {
    {"streaming loads from DRAM", MixAccess::global, models::Access::global},
    {"loads that hit in the L2", MixAccess::l2, models::Access::l2},
    {"loads that hit in the L1", MixAccess::l1, models::Access::l1},
    {"loads from shared memory", MixAccess::shared, models::Access::shared},
    {"loads from shared memory with two-way conflicts", MixAccess::shared_conflict, std::nullopt},
    {"reciprocal square roots", MixAccess::sfu, models::Access::sfu},
    {"matrix multiply-accumulates (MMA), 16 x 8 x 16 in half precision", MixAccess::tensor, models::Access::tensor},
};

/// The models shown first, then the others in the catalogue's order.
std::vector<const models::Model*> models_in_order() {
    std::vector<const models::Model*> order;
    for (const auto shown : kShown) order.push_back(&models::find_model(shown));
    for (const auto& model : models::catalogue())
        if (std::find(std::begin(kShown), std::end(kShown), model.id) == std::end(kShown)) order.push_back(&model);
    return order;
}

/// The surface's mixes at every occupancy, including those that give schedulers unequal numbers of warps.
std::vector<report::ModelledMix> measured_mixes(const measure::MixSurface& surface, MixAccess access) {
    std::vector<report::ModelledMix> mixes;
    for (const auto& curve : surface.curves) {
        const auto& shape = curve.shape;
        if (shape.arithmetic_only || shape.alpha == 0 || shape.chains != kChains || shape.access != access ||
            curve.samples.empty())
            continue;
        auto& mix = mixes.emplace_back(report::ModelledMix{.alpha = static_cast<double>(shape.alpha) / shape.accesses,
                                                           .measured = {},
                                                           .estimated = {},
                                                           .needed_measured = {},
                                                           .needed_estimated = {}});
        for (const auto& sample : curve.samples) mix.measured[sample.warps] = sample.instructions_per_cycle;
    }
    std::ranges::sort(mixes, {}, &report::ModelledMix::alpha);
    return mixes;
}

/// Adds to each measured mix what every model estimates for it.
void add_models(report::ModelledAccess& access, const measure::MixSurface& surface, models::Parameters parameters) {
    const auto judged = judged_mixes(surface, {.chains = kChains, .alphas = {}}, parameters);
    if (judged.empty() || parameters.memory.throughput == 0) {
        access.why_no_models = "the surface has no curve of accesses alone (alpha 0), which the models need";
        return;
    }
    const auto evaluations = models::evaluate(parameters, judged);
    const auto errors = models::overall(evaluations);
    for (const auto* model : models_in_order()) {
        access.mean_error.push_back(std::ranges::find(errors, model->id, &models::ModelError::model)->mean_error);
        for (auto& mix : access.mixes) {
            const auto found = std::ranges::find_if(
                evaluations, [&](const auto& e) { return e.model == model->id && e.mix.alpha == mix.alpha; });
            mix.estimated.push_back(found == evaluations.end() ? models::Curve{} : found->estimated);
            mix.needed_estimated.push_back(found == evaluations.end() ? std::nullopt : found->needed_estimated);
            if (found != evaluations.end()) mix.needed_measured = found->needed_measured;
        }
    }
}

void add_access(report::Modelled& all, const AccessTitle& row, const measure::MixSurface& surface,
                const machine::Machine& machine) {
    auto mixes = measured_mixes(surface, row.access);
    if (mixes.empty()) return;
    const std::string id(measure::name_of(row.access));
    if (std::ranges::any_of(all.accesses, [&](const auto& other) { return other.id == id; })) return;
    auto& access = all.accesses.emplace_back(report::ModelledAccess{.id = id,
                                                                    .title = std::string(row.title),
                                                                    .why_no_models = "no model covers this access",
                                                                    .mixes = std::move(mixes),
                                                                    .mean_error = {}});
    if (!row.judged) return;
    try {
        add_models(access, surface, models::parameters_of(machine, *row.judged));
    } catch (const InputError& missing) {
        access.why_no_models = missing.what();
    }
}

}  // namespace

report::Modelled modelled(const std::vector<measure::MixSurface>& surfaces, const machine::Machine& machine) {
    report::Modelled all;
    for (const auto& row : kAccesses)
        for (const auto& surface : surfaces) add_access(all, row, surface, machine);
    for (const auto* model : models_in_order())
        all.models.push_back({std::string(model->id), std::string(model->title), std::string(model->source),
                              std::find(std::begin(kShown), std::end(kShown), model->id) != std::end(kShown)});
    return all;
}

}  // namespace gputomo::compare
