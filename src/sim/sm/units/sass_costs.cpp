#include "sim/sm/units/sass_costs.hpp"

#include "costs/beside_products.hpp"
#include "costs/register_branches.hpp"
#include "sass/form.hpp"
#include "sim/machine_code/warpgroup_shape.hpp"
#include "sim/memory/description.hpp"
#include "sim/sm/units/warpgroup_costs.hpp"
#include "units/warp.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>

namespace gputomo::sim {
namespace {

struct Found {
    Cost cost;
    std::string assumption;  ///< empty where a scan timed it
    std::string name{};      ///< of what was not timed, where it is one form of an operation
};

/// What scans time of a branch through a register; empty for other instructions.
std::string_view register_branch(const machine_code::Step& step) {
    switch (step.instruction.operation) {
        case sass::Operation::BRX: return costs::kRegisterBranch;
        case sass::Operation::RET: return costs::kReturn;
        case sass::Operation::CALL: return step.source_count > 0 ? costs::kRegisterCall : "";
        default: return {};
    }
}

/// What scans time of a further value that MATCH.ANY finds; empty for other instructions.
std::string_view further_value(const sass::Instruction& instruction) {
    if (instruction.operation != sass::Operation::MATCH ||
        instruction.form->row->modifiers.find(".ANY") == std::string_view::npos)
        return {};
    return instruction.value(sass::Modifier::u64) != 0 ? costs::kFurtherWideValue : costs::kFurtherValue;
}

/// The matrix product of a warp that scans time (experiment tensor_products).
constexpr std::string_view kTimedProduct = "HMMA.16816.F32";

/// The form of a matrix product of a warp, as it is printed; empty for other instructions.
std::string product_name(const sass::Instruction& instruction) {
    if (instruction.operation != sass::Operation::HMMA) return {};
    std::string name(sass::name_of(instruction.operation));
    for (const auto modifier :
         {sass::Modifier::matrix_shape, sass::Modifier::accumulator, sass::Modifier::multiplicand})
        if (const auto text = sass::text_of(modifier, instruction.value(modifier)); !text.empty())
            name += fmt::format(".{}", text);
    return name;
}

class Finder {
public:
    Finder(const machine::Machine& machine, const CostModel& model) : machine_(machine), model_(model) {}

    [[nodiscard]] Found find(const machine_code::Step& step) const {
        const sass::Instruction& instruction = step.instruction;
        const sass::Facts& facts = *instruction.form->facts;
        if (const std::string_view like = register_branch(step); !like.empty()) return branch(like);
        if (facts.unit == sass::Unit::none) return {};
        if (machine_code::warpgroup::multiplies_warpgroup(instruction.operation)) return product(instruction);
        if (facts.unit == sass::Unit::unknown) {
            Found found{.cost = on_unit(sass::name_of(sass::Unit::integer), {})};
            found.cost.units.clear();
            found.cost.issue_slots = 1;
            found.assumption = fmt::format("no unit, and a latency of {:.0f} cycles", found.cost.last_latency);
            return found;
        }
        const std::string_view like = facts.timed_as, unit = sass::name_of(facts.unit);
        const bool timed = !facts.assumed;
        Found found{.cost = on_unit(unit, like)};
        if (const auto name = product_name(instruction); !name.empty() && name != kTimedProduct)
            found.name = name, found.assumption = fmt::format("as {}", kTimedProduct);
        const bool has_like = measured(like) != nullptr;
        if (!like.empty() && has_like && !timed) found.assumption = fmt::format("as {}", like);
        if (like.empty() || !has_like) {
            if (timed && model_.pipeline_named(unit)) return found;
            found.assumption =
                fmt::format("unit {}, at its rate and latency of {:.0f} cycles", unit, found.cost.last_latency);
        }
        if (const std::string_view value = further_value(instruction); !value.empty()) add_value(value, found);
        return found;
    }

private:
    /// Cycles until the warp goes on at the target.
    [[nodiscard]] Found branch(std::string_view like) const {
        Found found;
        if (const auto* const row = measured(like); row != nullptr)
            found.cost.last_latency = static_cast<double>(*row->latency);
        else
            found.assumption = "as a branch to a place that the code names";
        return found;
    }

    void add_value(std::string_view like, Found& found) const {
        const auto* const row = measured(like);
        if (row == nullptr || !row->throughput) {
            found.assumption = "as if all threads had one value";
            return;
        }
        found.cost.value_latency = static_cast<double>(*row->latency);
        // The first value takes its unit as long as a further one.
        for (UnitUse& use : found.cost.units) use.interval = interval_on(use.unit, *row->throughput);
        if (!found.cost.units.empty()) found.cost.value_interval = found.cost.units.front().interval;
    }

    /// Each of the four warps keeps the tensor core of its scheduler busy. Its part has as many multiplications as an
    /// mma.m16n8k16 for each eight columns.
    [[nodiscard]] Found product(const sass::Instruction& instruction) const {
        Found found{.cost = on_unit(sass::name_of(sass::Unit::tensor), {})};
        Cost& cost = found.cost;
        constexpr double kColumns = 8;
        const double parts = machine_code::warpgroup::columns_of(instruction) / kColumns;
        ProductCost time{.interval = cost.units.empty() ? 0 : parts * cost.units.front().interval};
        time.latency = cost.last_latency + time.interval;
        time.assumption = fmt::format("as {:.0f} mma.m16n8k16", parts);
        if (const auto timed = product_cost(machine_, instruction)) time = *timed;
        cost.latency = cost.last_latency = time.latency;
        cost.to_cores = 0;
        // The warp goes on at once: the tensor core reads the registers while it multiplies.
        cost.issue_slots = 1;
        for (UnitUse& use : cost.units) use.interval = time.interval;
        cost.beside = costs::interval_beside_products(
            machine_, machine_code::warpgroup::registers_of_operand(instruction, 0), time.interval);
        found.assumption = time.assumption;
        return found;
    }

    /// The described operation, where it is a single machine instruction or of unknown length.
    [[nodiscard]] const machine::Operation* measured(std::string_view like) const {
        if (like.empty()) return nullptr;
        const auto row = machine_.operations.find(std::string(like));
        return row != machine_.operations.end() && row->second.latency ? &row->second : nullptr;
    }

    [[nodiscard]] Cost on_unit(std::string_view unit, std::string_view like) const {
        Cost cost;
        const machine::Operation* const row = measured(like);
        const auto pipeline = model_.pipeline_named(unit);
        double lanes = pipeline ? model_.lanes_of(*pipeline) : 0;
        if (row != nullptr && row->throughput && row->instructions.value_or(1) == 1)
            lanes = pipeline ? std::min(lanes, *row->throughput) : *row->throughput;
        double latency = model_.latency_of(unit).value_or(model_.latency_of("int").value_or(kDefaultLatency));
        if (row != nullptr && row->instructions.value_or(1) == 1) latency = static_cast<double>(*row->latency);
        // A chain of REDUX has moves between them, because the result is in a uniform register.
        if (row != nullptr && row->instructions.value_or(1) == 2)
            latency = static_cast<double>(*row->latency) - model_.latency_of("int").value_or(kDefaultLatency);
        cost.latency = cost.last_latency = latency;
        cost.on_cores = unit == sass::name_of(sass::Unit::sp) || unit == sass::name_of(sass::Unit::integer);
        if (pipeline) cost.issue_slots = model_.slots_of_unit(*pipeline), cost.to_cores = model_.to_cores_of(*pipeline);
        const auto index = pipeline ? pipeline : model_.machine_unit(unit);
        if (lanes > 0 && index) cost.units.push_back({static_cast<std::uint16_t>(*index), interval_on(*index, lanes)});
        return cost;
    }

    /// Cycles for which a warp occupies a unit, or a scheduler's share of it, whose SM serves `lanes` threads a cycle.
    [[nodiscard]] double interval_on(std::size_t unit, double lanes) const {
        return static_cast<double>(kWarpSize) / (model_.is_shared(unit) ? lanes : lanes / model_.schedulers());
    }

    /// Cycles of an operation where the description has no unit of integers either; every GPU since Volta has 4.
    static constexpr double kDefaultLatency = 4;

    const machine::Machine& machine_;
    const CostModel& model_;
};

bool equal(const Cost& a, const Cost& b) {
    return a.latency == b.latency && a.to_cores == b.to_cores && a.issue_slots == b.issue_slots &&
           a.on_cores == b.on_cores && a.beside == b.beside && a.last_latency == b.last_latency &&
           a.value_latency == b.value_latency && a.value_interval == b.value_interval &&
           a.units.size() == b.units.size() &&
           std::ranges::equal(a.units, b.units, [](const UnitUse& x, const UnitUse& y) {
               return x.unit == y.unit && x.interval == y.interval;
           });
}

}  // namespace

SassCosts sass_costs_of(const machine_code::MachineProgram& program, const machine::Machine& machine,
                        const CostModel& model) {
    const Finder finder(machine, model);
    SassCosts costs;
    for (const machine_code::Step& step : program.steps) {
        const bool known = step.instruction.form != nullptr;
        Found found = known ? finder.find(step) : Found{};
        if (step.flow == machine_code::Flow::indirect_call && !program.system_functions.empty()) {
            // Which function it calls is known when it is executed.
            found.name = "CALL of printf or another function of the system";
            found.assumption = "as a call of an empty function";
        }
        auto same = std::ranges::find_if(costs.costs, [&](const Cost& cost) { return equal(cost, found.cost); });
        if (same == costs.costs.end()) same = costs.costs.insert(costs.costs.end(), found.cost);
        costs.cost_of.push_back(static_cast<std::uint16_t>(same - costs.costs.begin()));
        std::uint16_t assumed = SassCosts::kTimed;
        if (!found.assumption.empty()) {
            const std::string_view variant =
                found.name.empty() ? std::string_view(step.instruction.form->facts->name) : found.name;
            const AssumedCost row{std::string(variant.empty() ? sass::name_of(step.instruction.operation) : variant),
                                  found.assumption};
            auto at = std::ranges::find(costs.assumptions, row);
            if (at == costs.assumptions.end()) at = costs.assumptions.insert(costs.assumptions.end(), row);
            assumed = static_cast<std::uint16_t>(at - costs.assumptions.begin());
        }
        costs.assumed_of.push_back(assumed);
    }
    return costs;
}

}  // namespace gputomo::sim
