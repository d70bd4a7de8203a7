// Writes what TileLang's carver asks of a GPU: the fields of its class CUDA, which reads them from a driver.
#include "exports/exports.hpp"

#include "exports/origins.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cmath>

namespace gputomo::exports {

std::string tilelang(const machine::Machine& machine) {
    using Json = nlohmann::ordered_json;
    Origins from(machine);
    const auto count = [&](const std::string& field, const std::string& path) {
        return whole(from.number(field, path));
    };
    const double capability = 10 * from.number("compute_capability", "identity.compute_capability_major") +
                              from.number("compute_capability", "identity.compute_capability_minor");
    const double megahertz = from.number("bandwidth", "clock.sm_mhz");
    const double memory = from.number("bandwidth", "memory.read_bandwidth");
    const double shared = from.number("bandwidth", "shared.bytes_per_cycle") * from.number("bandwidth", "topology.sms");
    from.note("bandwidth", "deduced: GB/s of DRAM, and of the shared memory of all SMs");
    from.note("transaction_size", "assumed: as TileLang has it: bytes of a bank access of all lanes, and of a line");
    const Json fields = {
        {"name", machine.identity.name.value_or("unknown")},
        {"platform", "CUDA"},
        {"sm_version", whole(capability)},
        {"compute_capability", std::isnan(capability) ? Json() : Json(fmt::format("{:.0f}", capability))},
        {"compute_max_core", count("compute_max_core", "topology.sms")},
        {"warp_size", count("warp_size", "topology.warp_size")},
        {"sm_partition", count("sm_partition", "issue.schedulers_per_sm")},
        {"reg_cap", count("reg_cap", "topology.registers_per_sm")},
        {"smem_cap", count("smem_cap", "shared.max_per_block")},
        {"max_smem_usage", count("max_smem_usage", "shared.capacity")},
        {"l2_cache_size_bytes", count("l2_cache_size_bytes", from.cache_leaf("capacity"))},
        {"transaction_size", {32, 128}},
        {"bandwidth", {whole(memory), whole(shared * megahertz / 1e3)}}};
    return Json{{"schema", "gputomo-tilelang-1"}, {"fields", fields}, {"origin", from.json()}}.dump(4) + '\n';
}

}  // namespace gputomo::exports
