// Writes the ceilings of a roofline: the most that arithmetic and each level of memory can do.
#include "exports/exports.hpp"

#include "exports/origins.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <array>
#include <string_view>

namespace gputomo::exports {
namespace {

/// Operations a cycle and SM, and what each counts.
struct Arithmetic {
    std::string_view name, path, counts;
    double flop = 1;
};
constexpr std::array kArithmetic = {
    Arithmetic{"FP32 multiply-add", "operations[fma.rn.f32].throughput", "FLOP", 2},
    Arithmetic{"FP64 multiply-add", "operations[fma.rn.f64].throughput", "FLOP", 2},
    Arithmetic{"FP16 multiply-add of pairs", "operations[fma.rn.f16x2].throughput", "FLOP", 4},
    Arithmetic{"special functions", "pipelines.sfu.lanes", "OP", 1},
    Arithmetic{"integer add", "operations[add.s32].throughput", "OP", 1},
    // One m16n8k16 product has 16 x 8 x 16 multiply-adds, and 32 threads issue it.
    Arithmetic{"products of halves by warps (mma.sync)", "pipelines.tensor.lanes", "FLOP", 2.0 * 16 * 8 * 16 / 32}};

}  // namespace

std::string roofline(const machine::Machine& machine) {
    using Json = nlohmann::ordered_json;
    Json ceilings = Json::array();
    const auto add = [&](std::string_view name, std::string_view kind, std::string_view unit, double value,
                         const Origins& from) {
        if (value > 0)
            ceilings.push_back({{"name", name},
                                {"kind", kind},
                                {"unit", unit},
                                {"value", value},
                                {"origin", from.json().at("value")}});
    };
    for (const Arithmetic& row : kArithmetic) {
        Origins from(machine);
        const double all = from.number("value", "clock.sm_mhz") * 1e6 * from.number("value", "topology.sms");
        add(row.name, "compute", fmt::format("{}/s", row.counts),
            all * row.flop * from.number("value", std::string(row.path)), from);
    }
    const auto of_gpu = [&](std::string_view name, const std::string& path, bool each_sm) {
        Origins from(machine);
        const double cycles = from.number("value", "clock.sm_mhz") * 1e6;
        const double bytes = from.number("value", path) * (each_sm ? from.number("value", "topology.sms") : 1);
        add(name, "memory", "byte/s", cycles * bytes, from);
    };
    of_gpu("shared memory", "shared.bytes_per_cycle", true);
    of_gpu("L2, loads", Origins(machine).cache_leaf("bytes_per_cycle"), false);
    for (const std::string_view kind : {"read", "copy"}) {
        Origins from(machine);
        const double gigabytes = from.number("value", fmt::format("memory.{}_bandwidth", kind));
        add(fmt::format("DRAM, {}", kind), "memory", "byte/s", gigabytes * 1e9, from);
    }
    return Json{{"schema", "gputomo-roofline-1"},
                {"gpu", machine.identity.name.value_or("unknown")},
                {"ceilings", ceilings}}
               .dump(1) +
           '\n';
}

}  // namespace gputomo::exports
