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
constexpr std::string_view kDense = "wgmma", kSparse = "wgmma.sp", kRows = ".m64n", kInRegisters = ".registers";

/// "wgmma.m64n256k16.f32.f16.f16": 256 columns of "k16.f32.f16.f16".
struct Name {
    bool sparse = false;
    std::string types;
    int columns = 0;
    [[nodiscard]] bool same_types(const Name& other) const { return sparse == other.sparse && types == other.types; }
};

std::optional<Name> parsed(std::string_view name) {
    Name found{.sparse = name.starts_with(kSparse)};
    const std::string prefix = std::string(found.sparse ? kSparse : kDense) + std::string(kRows);
    if (!name.starts_with(prefix)) return std::nullopt;
    name.remove_prefix(prefix.size());
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), found.columns);
    if (error != std::errc{}) return std::nullopt;
    found.types = name.substr(static_cast<std::size_t>(end - name.data()));
    return found;
}

struct Timed {
    double latency = 0, interval = 0;
};
using ByColumns = std::map<int, Timed>;

ByColumns timed_products(const machine::Machine& machine, const Name& wanted) {
    ByColumns found;
    for (const auto& [key, row] : machine.operations) {
        const auto name = parsed(key);
        if (!name || !name->same_types(wanted) || !row.latency || !row.throughput) continue;
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

/// "k16.f32.f16.f16" for "k32.f32.f16.f16": a sparse product multiplies half of the elements along K.
std::string half_depth(std::string_view types) {
    int depth = 0;
    const auto [end, error] = std::from_chars(types.data() + 1, types.data() + types.size(), depth);
    if (error != std::errc{}) return std::string(types);
    return fmt::format("k{}{}", depth / 2, types.substr(static_cast<std::size_t>(end - types.data())));
}

/// What stands in for a type that was not timed: the first of these that was. Dense products of as many multiplications
/// stand in for sparse ones, behind sparse ones of other types.
std::vector<Name> stand_ins(const Name& asked) {
    std::string types = asked.types;
    const bool in_registers = types.ends_with(kInRegisters);
    if (in_registers) types.resize(types.size() - kInRegisters.size());
    std::vector<Name> found;
    const auto add = [&](bool sparse, std::string_view like) {
        if (in_registers) found.push_back({sparse, std::string(like) + std::string(kInRegisters)});
        found.push_back({sparse, std::string(like)});
    };
    const auto add_like = [&](bool sparse, const std::string& depth, const std::string& own) {
        add(sparse, own);
        // All of them multiply rows of 32 bytes.
        const bool bytes = own.starts_with(sparse ? "k64" : "k32");
        const bool halves = own.find(".f16.") != std::string::npos && own.rfind(".f16.", 4) != std::string::npos;
        const std::string of_bytes = sparse ? "k64" : "k32";
        if (bytes && halves) add(sparse, of_bytes + ".f16.e4m3.e4m3");
        if (bytes) add(sparse, of_bytes + ".f32.e4m3.e4m3"), add(sparse, of_bytes + ".s32.s8.s8");
        add(sparse, depth + ".f32.f16.f16");
    };
    if (asked.sparse) add_like(true, "k32", types), types = half_depth(types);
    add_like(false, "k16", types);
    return found;
}

}  // namespace

std::optional<ProductCost> product_cost(const machine::Machine& machine, const sass::Instruction& instruction) {
    const std::string name = machine_code::warpgroup::product_name(instruction);
    const auto asked = parsed(name);
    if (!asked) return std::nullopt;
    for (const Name& like : stand_ins(*asked)) {
        const ByColumns rows = timed_products(machine, like);
        if (rows.empty()) continue;
        const Timed time = between(rows, asked->columns);
        ProductCost cost{time.latency, time.interval, {}};
        if (!like.same_types(*asked))
            cost.assumption = fmt::format("as {} with {}", like.sparse ? kSparse : kDense, like.types);
        return cost;
    }
    return std::nullopt;
}

}  // namespace gputomo::sim
