#include "sim/sm/units/warpgroup_costs.hpp"

#include "sim/machine_code/warpgroup_shape.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cstddef>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

namespace gputomo::sim {
namespace {

constexpr double kThreadsOfGroup = 128;
constexpr std::string_view kPrefix = "wgmma.m64n", kInRegisters = ".registers";

/// "wgmma.m64n256k16.f32.f16.f16": 256 columns of "k16.f32.f16.f16".
struct Name {
    int columns = 0;
    std::string_view types;
};

std::optional<Name> parsed(std::string_view name) {
    if (!name.starts_with(kPrefix)) return std::nullopt;
    name.remove_prefix(kPrefix.size());
    Name found;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), found.columns);
    if (error != std::errc{}) return std::nullopt;
    found.types = name.substr(static_cast<std::size_t>(end - name.data()));
    return found;
}

struct Timed {
    double latency = 0, interval = 0;
};
using ByColumns = std::map<int, Timed>;

ByColumns timed_products(const machine::Machine& machine, std::string_view types) {
    ByColumns found;
    for (const auto& [key, row] : machine.operations) {
        const auto name = parsed(key);
        if (!name || name->types != types || !row.latency || !row.throughput) continue;
        found[name->columns] = {static_cast<double>(*row.latency), kThreadsOfGroup / *row.throughput};
    }
    return found;
}

/// On the line through the two neighbours; beyond the last one, on the line through the last two.
Timed between(const ByColumns& rows, int columns) {
    if (rows.size() == 1) return rows.begin()->second;
    auto above = rows.lower_bound(columns);
    if (above == rows.begin()) ++above;
    if (above == rows.end()) --above;
    const auto& [high, last] = *above;
    const auto& [low, first] = *std::prev(above);
    const double part = static_cast<double>(columns - low) / (high - low);
    return {first.latency + part * (last.latency - first.latency),
            first.interval + part * (last.interval - first.interval)};
}

/// What stands in for a type that was not timed: the first of these that was.
std::vector<std::string> stand_ins(std::string types) {
    const bool in_registers = types.ends_with(kInRegisters);
    if (in_registers) types.resize(types.size() - kInRegisters.size());
    std::vector<std::string> found;
    const auto add = [&](std::string_view like) {
        if (in_registers) found.push_back(std::string(like) + std::string(kInRegisters));
        found.emplace_back(like);
    };
    add(types);
    // All of them multiply rows of 32 bytes.
    const bool bytes = types.starts_with("k32");
    const bool halves = types.find(".f16.") != std::string::npos && types.rfind(".f16.", 4) != std::string::npos;
    if (bytes && halves) add("k32.f16.e4m3.e4m3");
    if (bytes) add("k32.f32.e4m3.e4m3"), add("k32.s32.s8.s8");
    add("k16.f32.f16.f16");
    return found;
}

}  // namespace

std::optional<ProductCost> product_cost(const machine::Machine& machine, const sass::Instruction& instruction) {
    const std::string name = machine_code::warpgroup::product_name(instruction);
    const auto asked = parsed(name);
    for (const std::string& types : stand_ins(std::string(asked->types))) {
        const ByColumns rows = timed_products(machine, types);
        if (rows.empty()) continue;
        const Timed time = between(rows, asked->columns);
        ProductCost cost{time.latency, time.interval, {}};
        if (types != asked->types) cost.assumption = fmt::format("as wgmma with {}", types);
        return cost;
    }
    return std::nullopt;
}

}  // namespace gputomo::sim
