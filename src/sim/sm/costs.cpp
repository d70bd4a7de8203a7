#include "sim/sm/costs.hpp"

#include "units/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace gputomo::sim {
namespace {

constexpr double kWarp = 32;

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
    schedulers_ = static_cast<std::uint32_t>(std::max<std::int64_t>(1, machine.issue.schedulers_per_sm.value_or(1)));
    for (const auto& [name, pipeline] : machine.pipelines) {
        if (!pipeline.lanes) throw InputError(fmt::format("pipelines.{}.lanes: missing; the simulator needs it", name));
        unit_names_.push_back(name);
        lanes_.push_back(*pipeline.lanes);
    }
    if (lanes_.empty()) throw InputError("pipelines: missing; the simulator needs at least one");
}

Cost CostModel::row_cost(const std::string& key, const machine::Operation& row) const {
    const auto missing = [&](std::string_view leaf) { throw InputError(fmt::format("operations[{}].{}: missing; the simulator needs it", key, leaf)); };
    if (!row.latency) missing("latency");
    if (!row.throughput) missing("throughput");
    if (!row.units || row.units.value.empty()) missing("units");
    Cost cost;
    cost.steps = static_cast<std::uint32_t>(std::max<std::int64_t>(1, row.instructions.value_or(1)));
    const auto step_latency = *row.latency / cost.steps;
    cost.latency = static_cast<double>(step_latency);
    cost.last_latency = static_cast<double>(*row.latency - step_latency * (cost.steps - 1));
    // The first unit runs at its own rate, further ones share what is left of the operation's throughput.
    double left = *row.throughput;
    for (std::size_t i = 0; i < row.units.value.size(); ++i) {
        const auto unit = std::find(unit_names_.begin(), unit_names_.end(), row.units.value[i]);
        if (unit == unit_names_.end()) throw InputError(fmt::format("operations[{}].units: no pipeline \"{}\"", key, row.units.value[i]));
        const auto index = static_cast<std::size_t>(unit - unit_names_.begin());
        const bool last = i + 1 == row.units.value.size();
        const double rate = last ? left : std::min(lanes_[index], left);
        if (rate <= 0) break;
        left -= rate;
        cost.units.push_back({static_cast<std::uint16_t>(index), kWarp * schedulers_ / rate / cost.steps});
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
