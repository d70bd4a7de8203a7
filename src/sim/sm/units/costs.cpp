#include "sim/sm/units/costs.hpp"

#include "costs/whole_warp.hpp"
#include "machine/relatives.hpp"
#include "sim/memory/description.hpp"
#include "units/warp.hpp"

#include <algorithm>

namespace gputomo::sim {
namespace {

constexpr double kWarp = kWarpSize;
/// Limits that catch typing errors; no GPU comes near them.
constexpr std::int64_t kMostSchedulers = 64;
constexpr std::int64_t kMostSteps = 1000;

/// Units of machine instructions that a description may lack as pipelines.
constexpr std::string_view kMachineUnits[] = {"lanes"};

std::string own_unit(const std::string& key) { return "unit of " + key; }

}  // namespace

CostModel::CostModel(const machine::Machine& machine) : machine_(machine), global_loads_(machine) {
    const auto& schedulers = machine.issue.schedulers_per_sm;
    if (schedulers)
        schedulers_ = static_cast<std::uint32_t>(need_count(schedulers, "issue.schedulers_per_sm", kMostSchedulers));
    for (const auto& [name, pipeline] : machine.pipelines) {
        units_.push_back(name);
        lanes_.push_back(need_rate(pipeline.lanes, key_path("pipelines", name) + ".lanes"));
        shared_.push_back(pipeline.scope.value_or("scheduler") == "sm");
        slots_.push_back(slots_of(pipeline.issue_slots, key_path("pipelines", name) + ".issue_slots"));
        whole_warp_.push_back(costs::whole_warp_cycles(pipeline));
        to_cores_.push_back(forwarding(pipeline.latency, pipeline.forward_latency, key_path("pipelines", name)));
    }
    for (const auto& [key, row] : machine.operations)
        if (units_of(key, row).empty()) units_.push_back(own_unit(key));
    for (const std::string add : {"add.f32", "add.s32"})
        if (const auto* row = machine::nearest_operation(machine, add); row != nullptr)
            if (const auto units = units_of(row->first, row->second); !units.empty()) cores_.push_back(units.front());
    if (units_.empty())
        reject("operations", "missing", "at least one, because the simulator needs to know what instructions cost");
    for (const std::string_view unit : kMachineUnits)
        if (!machine.pipelines.contains(std::string(unit))) units_.push_back(own_unit(std::string(unit)));
}

std::optional<std::size_t> CostModel::pipeline_named(std::string_view name) const {
    const auto found = std::find(units_.begin(), units_.begin() + static_cast<std::ptrdiff_t>(lanes_.size()), name);
    const auto at = static_cast<std::size_t>(found - units_.begin());
    return at < lanes_.size() ? std::optional(at) : std::nullopt;
}

std::optional<std::size_t> CostModel::machine_unit(std::string_view name) const {
    const auto found = std::find(units_.begin(), units_.end(), own_unit(std::string(name)));
    if (found == units_.end()) return std::nullopt;
    return static_cast<std::size_t>(found - units_.begin());
}

std::optional<double> CostModel::latency_of(std::string_view pipeline) const {
    const auto found = machine_.pipelines.find(std::string(pipeline));
    if (found == machine_.pipelines.end() || !found->second.latency) return std::nullopt;
    return static_cast<double>(*found->second.latency);
}

std::size_t CostModel::unit_named(const std::string& name, const std::string& path) const {
    const auto found = std::find(units_.begin(), units_.end(), name);
    if (found == units_.end()) reject(path, fmt::format("found \"{}\"", name), "keys of pipelines");
    return static_cast<std::size_t>(found - units_.begin());
}

/// The units that the operation lists, else the pipelines that list the operation; empty where neither does.
std::vector<std::string> CostModel::units_of(const std::string& key, const machine::Operation& row) const {
    if (row.units && !row.units.value.empty()) return row.units.value;
    std::vector<std::string> units;
    for (const auto& [name, pipeline] : machine_.pipelines) {
        const auto executes = pipeline.executes.value_or({});
        if (std::find(executes.begin(), executes.end(), key) != executes.end()) units.push_back(name);
    }
    return units;
}

Cost CostModel::row_cost(const std::string& key, const machine::Operation& row) const {
    const std::string where = key_path("operations", key);
    const auto latency = static_cast<std::int64_t>(need_cycles(row.latency, where + ".latency"));
    double left = need_rate(row.throughput, where + ".throughput");
    Cost cost;
    cost.steps = row.instructions
                     ? static_cast<std::uint32_t>(need_count(row.instructions, where + ".instructions", kMostSteps))
                     : 1;
    const auto step_latency = latency / cost.steps;
    cost.latency = static_cast<double>(step_latency);
    cost.last_latency = static_cast<double>(latency - step_latency * (cost.steps - 1));
    const auto add = [&](std::size_t unit, double rate) {
        const double whole = is_shared(unit) ? rate : rate / schedulers_;
        cost.units.push_back({static_cast<std::uint16_t>(unit), kWarp / whole / cost.steps});
    };
    const auto units = units_of(key, row);
    cost.on_cores = !units.empty() && std::ranges::find(cores_, units.front()) != cores_.end();
    if (units.empty()) add(unit_named(own_unit(key), where), left);
    // The first unit runs at its own rate; further units share the rest of the operation's throughput.
    for (std::size_t i = 0; i < units.size() && left > 0; ++i) {
        const std::size_t unit = unit_named(units[i], where + ".units");
        if (i == 0)
            cost.issue_slots = slots_[unit], cost.whole_warp = whole_warp_[unit], cost.to_cores = to_cores_[unit];
        const double rate = i + 1 == units.size() ? left : std::min(lanes_[unit], left);
        left -= rate;
        add(unit, rate);
    }
    return cost;
}

Cost CostModel::cost_of(const std::string& mnemonic) const {
    const auto* row = machine::nearest_operation(machine_, mnemonic);
    if (row != nullptr) return row_cost(row->first, row->second);
    throw InputError(fmt::format(
        "operations[{}]: missing, and no operation of its family is described; the simulator needs one", mnemonic));
}

}  // namespace gputomo::sim
