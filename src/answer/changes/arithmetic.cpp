#include "answer/changes/changes.hpp"
#include "answer/changes/recorded_blocks.hpp"
#include "answer/operations/flop.hpp"
#include "sim/sm/units/costs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>

namespace gputomo::answer::changes {
namespace {

/// The operation that stands for arithmetic in single precision.
constexpr const char* kSingle = "fma.rn.f32";

/// The cost of a multiply-add; nullopt where the description does not say.
std::optional<sim::Cost> single_cost(const machine::Machine& machine, const sim::CostModel& costs) {
    if (!machine.operations.contains(kSingle)) return {};
    auto cost = costs.cost_of(kSingle);
    if (cost.units.empty()) return {};
    return cost;
}

bool calculates(const launch::ProfiledStep& step, std::string_view type) {
    const auto flop = flop_of(step.text);
    return step.kind == StepKind::compute && flop && (type.empty() || flop->type == type);
}

bool converts_double(const launch::ProfiledStep& step) {
    return step.text.find("F2F.F64.F32") != std::string::npos || step.text.find("F2F.F32.F64") != std::string::npos;
}

/// Steps by how often the recorded blocks execute them.
std::vector<std::size_t> executed_most(const LaunchProfile& profile, std::vector<std::size_t> steps) {
    std::erase_if(steps, [&](std::size_t i) { return profile.executed[i] <= 0; });
    std::ranges::stable_sort(steps, std::ranges::greater(), [&](std::size_t i) { return profile.executed[i]; });
    return steps;
}

/// The profile's unit of this name, which is added where it has none.
int unit_named(LaunchProfile& profile, const sim::CostModel& costs, std::size_t unit) {
    const auto& name = costs.name_of(unit);
    const auto found = std::ranges::find(profile.units, name, &launch::ProfiledUnit::name);
    if (found == profile.units.end()) {
        profile.units.push_back({.name = name, .of_sm = costs.is_shared(unit)});
        return static_cast<int>(profile.units.size()) - 1;
    }
    return static_cast<int>(found - profile.units.begin());
}

/// The barriers that only instructions of this kind release: nothing else waits for them.
std::uint8_t barriers_of(const LaunchProfile& profile, std::string_view type) {
    unsigned of_type = 0, of_others = 0;
    for (const auto& step : profile.steps)
        for (const auto barrier : {step.written, step.read})
            if (barrier < launch::kNoDependence) (calculates(step, type) ? of_type : of_others) |= 1U << barrier;
    return static_cast<std::uint8_t>(of_type & ~of_others);
}

}  // namespace

std::optional<ChangedProfile> with_independent_arithmetic(const LaunchProfile& profile,
                                                          const machine::Machine& machine) {
    const sim::CostModel costs(machine);
    const auto single = single_cost(machine, costs);
    if (!single) return {};
    // The chains have to cover the latency of a multiply-add.
    const int chains =
        static_cast<int>(std::ceil(single->last_latency / std::max(1.0, single->units.front().interval)));
    if (chains < 2) return {};
    ChangedProfile to{
        .change = fmt::format("if each thread worked on {0} independent chains of arithmetic, such as {0} "
                              "sums instead of one",
                              chains),
        .profile = profile,
        .steps = {}};
    const std::uint8_t own = barriers_of(profile, {});
    for (std::size_t i = 0; i < profile.steps.size(); ++i) {
        auto& step = to.profile.steps[i];
        if (!calculates(step, {})) continue;
        const auto stall = static_cast<std::uint8_t>(std::max(1, step.stall / chains));
        const auto waits = static_cast<std::uint8_t>(step.waits & ~own);
        if (stall == step.stall && waits == step.waits) continue;
        step.stall = stall;
        step.goes_on = stall == 1;
        step.waits = waits;
        to.steps.push_back(i);
    }
    to.steps = executed_most(profile, std::move(to.steps));
    if (to.steps.empty()) return {};
    return to;
}

std::optional<ChangedProfile> with_single_precision(const LaunchProfile& profile, const machine::Machine& machine) {
    const sim::CostModel costs(machine);
    const auto single = single_cost(machine, costs);
    if (!single) return {};
    ChangedProfile to{.change = "with arithmetic in single instead of double precision, where its accuracy is enough",
                      .profile = profile,
                      .steps = {}};
    const auto stall = static_cast<std::uint8_t>(std::ceil(single->last_latency));
    const std::uint8_t own = barriers_of(profile, "f64");
    for (std::size_t i = 0; i < profile.steps.size(); ++i) {
        auto& step = to.profile.steps[i];
        if (!calculates(step, "f64")) continue;
        to.steps.push_back(i);
        step.unit = unit_named(to.profile, costs, single->units.front().unit);
        step.interval = single->units.front().interval;
        step.latency = single->last_latency;
        step.slots = 1;
        step.stall = std::min(step.stall, stall);
        step.waits = static_cast<std::uint8_t>(step.waits & ~own);
        // A pair of registers becomes one.
        for (auto& operand : step.reads.operands) {
            operand.words = 1;
            operand.number /= 2;
        }
    }
    to.steps = executed_most(profile, std::move(to.steps));
    if (to.steps.empty()) return {};
    (void)drop_events(to.profile, [&](const BlockTrace& /*block*/, const WarpEvent& event) {
        return converts_double(profile.steps[event.step]);
    });
    return to;
}

}  // namespace gputomo::answer::changes
