#include "sim/sm/costs.hpp"

#include "sim/memory/description.hpp"

#include <algorithm>
#include <array>

namespace gputomo::sim {
namespace {

constexpr double kWarp = 32;
constexpr std::int64_t kMostSchedulers = 64;
constexpr std::int64_t kMostSteps = 1000;

std::string own_unit(const std::string& key) { return "unit of " + key; }

/// Families of mnemonics: what starts so costs as the first described key of the list. "*" closes the table.
struct Family {
    std::string_view prefix;
    std::string_view suffix;
    std::array<std::string_view, 4> keys;
};

constexpr Family kFamilies[] = {
    {"mul.wide", "", {"mul.wide.s32", "mul.lo.s32", "mul.lo.u32", ""}},
    {"mul.lo", "", {"mul.lo.s32", "mul.lo.u32", "", ""}},
    {"mul.hi", "", {"mul.hi.u32", "mul.hi.s32", "mul.lo.s32", ""}},
    {"mad.wide", "", {"mad.wide.s32", "mad.lo.s32", "mad.lo.u32", ""}},
    {"mad.hi", "", {"mad.hi.s32", "mad.lo.s32", "mad.lo.u32", ""}},
    {"mad", "f32", {"fma.rn.f32", "mad.f32", "add.f32", ""}},
    {"mad", "f64", {"fma.rn.f64", "add.f64", "", ""}},
    {"mad", "", {"mad.lo.s32", "mad.lo.u32", "", ""}},
    {"fma", "f32", {"fma.rn.f32", "mad.f32", "add.f32", ""}},
    {"fma", "f64", {"fma.rn.f64", "add.f64", "", ""}},
    {"div", "f32", {"div.full.f32", "div.approx.f32", "rsqrt.approx.f32", ""}},
    {"div", "f64", {"div.rn.f64", "add.f64", "", ""}},
    {"div", "", {"div.u32", "div.s32", "mul.lo.s32", ""}},
    {"rem", "", {"rem.u32", "rem.s32", "mul.lo.s32", ""}},
    {"rsqrt", "", {"rsqrt.approx.f32", "", "", ""}},
    {"rcp", "", {"rcp.approx.f32", "rsqrt.approx.f32", "", ""}},
    {"sqrt", "", {"sqrt.approx.f32", "rsqrt.approx.f32", "", ""}},
    {"sin", "", {"sin.approx.f32", "rsqrt.approx.f32", "", ""}},
    {"cos", "", {"cos.approx.f32", "rsqrt.approx.f32", "", ""}},
    {"lg2", "", {"lg2.approx.f32", "rsqrt.approx.f32", "", ""}},
    {"ex2", "", {"ex2.approx.f32", "rsqrt.approx.f32", "", ""}},
    {"tanh", "", {"tanh.approx.f32", "rsqrt.approx.f32", "", ""}},
    {"mul", "f32", {"mul.f32", "add.f32", "", ""}},
    {"mul", "f64", {"mul.f64", "add.f64", "", ""}},
    {"add", "f64", {"add.f64", "", "", ""}},
    {"sub", "f64", {"sub.f64", "add.f64", "", ""}},
    {"m", "f64", {"add.f64", "", "", ""}},
    {"add", "f32", {"add.f32", "", "", ""}},
    {"sub", "f32", {"add.f32", "", "", ""}},
    // Moves, logic, comparisons, conversions, shuffles, addresses of memory instructions: the plain integer pipeline.
    {"", "", {"add.s32", "add.u32", "add.f32", ""}},
};

}  // namespace

CostModel::CostModel(const machine::Machine& machine) : machine_(machine) {
    const auto& schedulers = machine.issue.schedulers_per_sm;
    if (schedulers) schedulers_ = static_cast<std::uint32_t>(need_count(schedulers, "issue.schedulers_per_sm", kMostSchedulers));
    for (const auto& [name, pipeline] : machine.pipelines) {
        units_.push_back(name);
        lanes_.push_back(need_rate(pipeline.lanes, key_path("pipelines", name) + ".lanes"));
    }
    for (const auto& [key, row] : machine.operations)
        if (units_of(key, row).empty()) units_.push_back(own_unit(key));
    if (units_.empty()) reject("operations", "missing", "at least one, because the simulator needs to know what instructions cost");
}

std::size_t CostModel::unit_named(const std::string& name, const std::string& path) const {
    const auto found = std::find(units_.begin(), units_.end(), name);
    if (found == units_.end()) reject(path, fmt::format("found \"{}\"", name), "keys of pipelines");
    return static_cast<std::size_t>(found - units_.begin());
}

/// As the operation says, or as the pipelines say; nothing where neither does.
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
    cost.steps = row.instructions ? static_cast<std::uint32_t>(need_count(row.instructions, where + ".instructions", kMostSteps)) : 1;
    const auto step_latency = latency / cost.steps;
    cost.latency = static_cast<double>(step_latency);
    cost.last_latency = static_cast<double>(latency - step_latency * (cost.steps - 1));
    const auto add = [&](std::size_t unit, double rate) {
        cost.units.push_back({static_cast<std::uint16_t>(unit), kWarp * schedulers_ / rate / cost.steps});
    };
    const auto units = units_of(key, row);
    if (units.empty()) add(unit_named(own_unit(key), where), left);
    // The first unit runs at its own rate, further ones share what is left of the operation's throughput.
    for (std::size_t i = 0; i < units.size() && left > 0; ++i) {
        const std::size_t unit = unit_named(units[i], where + ".units");
        const double rate = i + 1 == units.size() ? left : std::min(lanes_[unit], left);
        left -= rate;
        add(unit, rate);
    }
    return cost;
}

Cost CostModel::cost_of(const std::string& mnemonic) const {
    if (const auto row = machine_.operations.find(mnemonic); row != machine_.operations.end()) return row_cost(row->first, row->second);
    for (const auto& family : kFamilies) {
        if (!mnemonic.starts_with(family.prefix) || !mnemonic.ends_with(family.suffix)) continue;
        for (const auto key : family.keys)
            if (const auto row = machine_.operations.find(std::string(key)); row != machine_.operations.end())
                return row_cost(row->first, row->second);
    }
    throw InputError(fmt::format("operations[{}]: missing, and no operation of its family is described; the simulator needs one", mnemonic));
}

}  // namespace gputomo::sim
