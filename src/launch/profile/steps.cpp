#include "launch/profile/steps.hpp"

#include "costs/fences.hpp"
#include "costs/product_groups.hpp"
#include "sass/code.hpp"
#include "sass/fences.hpp"
#include "sass/form.hpp"
#include "sim/machine_code/constant_place.hpp"
#include "sim/machine_code/deferred_barriers.hpp"
#include "sim/machine_code/stall_kind.hpp"
#include "sim/machine_code/warpgroup_shape.hpp"
#include "sim/sm/machine_code/slots.hpp"
#include "sim/sm/units/sass_costs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>

namespace gputomo::launch {
namespace {

using sass::Class;
using sim::machine_code::Flow;

/// Share of executed instructions without a measured cost above which the time rests on guesses.
constexpr double kUntimed = 0.5;

StepKind kind_of(const sim::machine_code::Step& step) {
    if (step.flow == Flow::block_barrier)
        return sass::text_of(step.instruction, 0).find(".ARV") == std::string::npos ? StepKind::block_barrier
                                                                                    : StepKind::compute;
    if (step.flow != Flow::next) return StepKind::branch;
    if (step.instruction.form == nullptr) return StepKind::compute;
    const sass::Facts& facts = *step.instruction.form->facts;
    switch (facts.what) {
        case Class::memory: return facts.accesses_shared() ? StepKind::shared : StepKind::global;
        case Class::constant: return StepKind::constant;
        case Class::copy: return StepKind::copy;
        case Class::copy_barrier: return StepKind::copy_barrier;
        case Class::bulk_copy: return StepKind::bulk_copy;
        case Class::bulk_group: return StepKind::bulk_group;
        case Class::shared_barrier: return StepKind::shared;
        case Class::wait: return StepKind::wait;
        case Class::fence: return StepKind::fence;
        default: return StepKind::compute;
    }
}

/// What a wait waits for.
void set_wait(const sass::Instruction& instruction, ProfiledStep& step) {
    const sim::BarrierWait wait = sim::barrier_wait(instruction);
    if (wait.barrier >= 0) step.barrier = static_cast<std::uint8_t>(wait.barrier);
    step.left = wait.left;
    step.waits |= static_cast<std::uint8_t>(wait.others);
}

/// How long a fence holds its warp, as far as the description says it.
void set_fence(const sass::Instruction& instruction, const costs::FenceSpec& fences, ProfiledStep& step) {
    step.latency = 0;
    if (!fences.described) return;
    switch (sass::fence_scope_of(instruction)) {
        case sass::FenceScope::block: step.kind = StepKind::compute; break;
        case sass::FenceScope::gpu: step.latency = fences.gpu; break;
        case sass::FenceScope::system: step.latency = fences.system; break;
        case sass::FenceScope::none: {
            constexpr double kMostStall = 255;  // ERRBAR takes less on all GPUs that were measured
            step.stall = std::max(step.stall, static_cast<std::uint8_t>(std::min(kMostStall, fences.errors)));
            break;
        }
    }
}

}  // namespace

void add_steps(const sim::machine_code::MachineProgram& program, const machine::Machine& machine, LaunchProfile& to) {
    const auto fences = costs::fence_spec_of(machine);
    const sim::CostModel model(machine);
    const auto file = costs::register_file_of(machine);
    const sim::SassCosts costs = sim::sass_costs_of(program, machine, model);
    std::vector<int> unit_of(model.unit_count(), -1);
    std::set<std::string> assumed;
    double all = 0, untimed = 0;
    for (std::size_t at = 0; at < program.steps.size(); ++at) {
        const auto& from = program.steps[at];
        const sim::Cost& cost = costs.costs[costs.cost_of[at]];
        const sass::Control& control = from.instruction.control;
        ProfiledStep step{.address = at * sass::kInstructionBytes,
                          .text = sim::machine_code::text_of(program, at),
                          .kind = kind_of(from),
                          .latency = cost.last_latency};
        step.stall = sim::stall_cycles(from.instruction, machine.issue);
        if (from.flow == Flow::converge)
            step.rejoins = static_cast<float>(machine.issue.branch_latency_untaken.value_or(0));
        step.constant = sim::machine_code::constant_operand_of(from.instruction).place;
        step.waits = control.wait;
        step.stalls = sim::machine_code::stall_kind_of(from);
        step.written = control.write_barrier;
        step.read = control.read_barrier;
        step.queues = from.instruction.form != nullptr &&
                      sim::machine_code::warpgroup::multiplies_warpgroup(from.instruction.operation);
        if (sim::machine_code::warpgroup::commits_products(from.instruction)) step.written = costs::kProductGroups;
        step.goes_on = step.stall == 1;
        step.passes_barriers = sim::machine_code::passes_barriers(from);
        step.defers_waiting = machine.issue.barrier_defers.value_or(false) && sim::machine_code::defers_waiting(from);
        step.slots = sim::compute_slots(from.instruction, cost, file);
        if (step.kind == StepKind::compute) step.reads = sim::operand_reads(from.instruction);
        if (!cost.units.empty()) {
            const auto unit = cost.units.front().unit;
            if (unit_of[unit] < 0) {
                unit_of[unit] = static_cast<int>(to.units.size());
                to.units.push_back({model.name_of(unit), model.is_shared(unit)});
            }
            step.unit = unit_of[unit];
            step.interval = cost.units.front().interval;
            step.beside = cost.beside;
            if (step.kind == StepKind::compute && !model.is_shared(unit))
                step.results = sim::arithmetic_results(from.instruction);
        }
        if (to.further_values[at] > 0) {
            const double further = to.further_values[at] / to.executed[at];
            step.latency += further * cost.value_latency;
            step.interval += further * cost.value_interval;
        }
        if (step.kind == StepKind::fence || sass::waits_for_errors(from.instruction))
            set_fence(from.instruction, fences, step);
        if (sass::shows_shared_stores(from.instruction)) {
            step.shows_stores = true;
            step.latency = fences.view;
        }
        if (step.kind == StepKind::wait && from.instruction.form != nullptr) set_wait(from.instruction, step);
        to.steps.push_back(std::move(step));
        all += to.executed[at];
        if (costs.assumed_of[at] != sim::SassCosts::kTimed) untimed += to.executed[at];
        if (const auto row = costs.assumed_of[at]; row != sim::SassCosts::kTimed && to.executed[at] > 0)
            assumed.insert(fmt::format("{} was not timed: {}", costs.assumptions[row].operation,
                                       costs.assumptions[row].assumption));
    }
    to.assumptions.insert(to.assumptions.end(), assumed.begin(), assumed.end());
    if (untimed > kUntimed * all)
        to.warnings.push_back(fmt::format(
            "{:.0f}% of the executed instructions were not timed on this GPU, and their costs are taken from "
            "others: see what is assumed",
            100 * untimed / all));
}

}  // namespace gputomo::launch
