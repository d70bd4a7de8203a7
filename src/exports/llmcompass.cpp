// Writes the hardware file of LLMCompass (its configs/template.json).
#include "exports/exports.hpp"

#include "exports/origins.hpp"

#include <nlohmann/json.hpp>

namespace gputomo::exports {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kKibi = 1024, kMebi = kKibi * kKibi, kGibi = kKibi * kMebi;
/// Rows of a systolic array in the files that come with LLMCompass.
constexpr double kRows = 16;
/// Multiply-adds of one m16n8k16 product, and threads that issue it: lanes of the pipeline count each thread.
constexpr double kProduct = 16.0 * 8 * 16, kThreads = 32;

/// What LLMCompass asks of the links between GPUs: descriptions have one GPU.
Json no_links() {
    return {{"link",
             {{"name", "none"},
              {"bandwidth_per_direction_byte", 1.0},
              {"bandwidth_both_directions_byte", 2.0},
              {"latency_second", 0.0},
              {"flit_size_byte", 16},
              {"header_size_byte", 16},
              {"max_payload_size_byte", 256}}},
            {"link_count_per_device", 1},
            {"topology", "FC"}};
}

}  // namespace

std::string llmcompass(const machine::Machine& machine) {
    Origins from(machine);
    const double schedulers = from.number("core.sublane_count", "issue.schedulers_per_sm");
    const double adds = from.number("vector_unit.flop_per_cycle", "pipelines.sp.lanes");
    const double products = from.number("systolic_array", "pipelines.tensor.lanes") * kProduct / kThreads;
    const double sram = from.number("core.SRAM_KB", "shared.capacity");
    const double registers = from.number("register_file.num_registers", "topology.registers_per_sm");
    const double l2_bytes =
        from.number("io.global_buffer_bandwidth_per_cycle_byte", from.cache_leaf("bytes_per_cycle"));
    const double l2 = from.number("io.global_buffer_MB", from.cache_leaf("capacity")) *
                      from.number("io.global_buffer_MB", from.cache_leaf("partitions"), 1);
    const double bandwidth = from.number("io.bandwidth_per_pin_bit", "memory.read_bandwidth");
    const Json core = {
        {"sublane_count", whole(schedulers)},
        {"systolic_array",
         {{"array_width", whole(products / schedulers / kRows)},
          {"array_height", whole(kRows)},
          {"data_type", "fp16"},
          {"mac_per_cycle", 1}}},
        {"vector_unit",
         {{"vector_width", whole(kThreads)},
          {"flop_per_cycle", 2 * adds / (schedulers * kThreads)},
          {"data_type", "fp32"},
          {"int32_count", whole(from.number("vector_unit.int32_count", "pipelines.int.lanes") / schedulers)},
          {"fp16_count", 0},
          {"fp32_count", whole(adds / schedulers)},
          {"fp64_count", whole(from.number("vector_unit.fp64_count", "pipelines.dpu.lanes") / schedulers)}}},
        {"register_file",
         {{"num_reg_files", whole(schedulers)},
          {"num_registers", whole(registers / schedulers)},
          {"register_bitwidth", 32},
          {"num_rdwr_ports", 4}}},
        {"SRAM_KB", sram / kKibi}};
    const Json device = {
        {"frequency_Hz", from.number("frequency_Hz", "clock.sm_mhz") * 1e6},
        {"compute_chiplet_count", 1},
        {"compute_chiplet",
         {{"physical_core_count", whole(from.number("compute_chiplet.core_count", "topology.sms"))},
          {"core_count", whole(from.number("compute_chiplet.core_count", "topology.sms"))},
          {"process_node", "unknown"},
          {"core", core}}},
        {"memory_protocol", "unknown"},
        {"io",
         {{"process_node", "unknown"},
          {"global_buffer_MB", l2 / kMebi},
          {"physical_global_buffer_MB", l2 / kMebi},
          {"global_buffer_bandwidth_per_cycle_byte", l2_bytes},
          {"memory_channel_physical_count", 1},
          {"memory_channel_active_count", 1},
          {"pin_count_per_channel", 1024},
          {"bandwidth_per_pin_bit", bandwidth * 1e9 * 8 / 1024}}},
        {"memory", {{"total_capacity_GB", from.number("memory.total_capacity_GB", "memory.capacity") / kGibi}}}};
    from.note("interconnect", "assumed: descriptions have one GPU, so that links have no meaning");
    from.note("io.memory_channel_active_count", "assumed: one channel of 1024 pins has the bandwidth of all");
    from.note("systolic_array", "deduced: multiply-adds a cycle of each scheduler, in 16 rows");
    const Json whole = {{"name", machine.identity.name.value_or("unknown")},
                        {"device_count", 1},
                        {"interconnect", no_links()},
                        {"device", device},
                        {"_origin", from.json()}};
    return whole.dump(4) + '\n';
}

}  // namespace gputomo::exports
