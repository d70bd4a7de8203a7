// Writes options of Accel-Sim and GPGPU-Sim. Each line says whether its value was measured or cited, is deduced from
// such values, or is assumed and why.
#include "exports/accel_sim_option.hpp"
#include "exports/exports.hpp"

#include <array>

namespace gputomo::exports {
namespace gpgpu {
namespace {

/// What has no counterpart in a description: queues, the interconnect, and how DRAM is addressed.
std::string surroundings(const Machine& machine) {
    struct Row {
        std::string_view key, value, why;
    };
    constexpr std::array kRows = {
        Row{"-gpgpu_cache:il1", "N:64:128:16,L:R:f:N:L,S:2:48,4", kAsTested},
        Row{"-gpgpu_tex_cache:l1", "N:4:128:256,L:R:m:N:L,T:512:8,128:2", kAsTested},
        Row{"-gpgpu_const_cache:l1", "N:128:64:8,L:R:f:N:L,S:2:64,4", kAsTested},
        Row{"-gpgpu_dram_partition_queues", "64:64:64:64", kAsTested},
        Row{"-gpgpu_n_cluster_ejection_buffer_size", "32", kAsTested},
        Row{"-gpgpu_perf_sim_memcpy", "0", "copies from the host do not fill the L2, so that caches start empty"},
        Row{"-network_mode", "2", "the simulator's crossbar, whose clock holds the bandwidth"},
        Row{"-icnt_in_buffer_limit", "512", kAsTested},
        Row{"-icnt_out_buffer_limit", "512", kAsTested},
        Row{"-icnt_subnets", "2", kAsTested},
        Row{"-icnt_flit_size", "40", "a request of 32 bytes and its head"},
        Row{"-icnt_arbiter_algo", "1", kAsTested},
        Row{"-gpgpu_simple_dram_model", "1", "a latency and a bandwidth, as the description has them"},
        Row{"-gpgpu_dram_buswidth", "8", "no effect with that model"},
        Row{"-gpgpu_dram_burst_length", "4", "no effect with that model"},
        Row{"-gpgpu_mem_address_mask", "1", kAsTested},
        Row{"-gpgpu_mem_addr_mapping",
            "dramid@8;00000000.00000000.00000000.00000000.0000RRRR.RRRRRRRR.RBBBCCCC.BCCSSSSS", kAsTested},
        Row{"-gpgpu_memlatency_stat", "14", "what the simulator prints"},
        Row{"-visualizer_enabled", "0", "what the simulator prints"},
    };
    std::string out;
    for (const Row& row : kRows) out += assumed(machine, row.key, row.value, row.why);
    return out;
}

std::string head(const Machine& machine, std::string_view reader) {
    return fmt::format(
        "# {} for {}\n# Written by gputomo from a machine description. Comments above an option say where its value "
        "comes from.\n",
        reader, machine.identity.name.value_or("an unknown GPU"));
}

std::string options(const Machine& machine) {
    return capability(machine) + shader_core(machine) + clocks(machine) + units(machine) + opcode_lists(machine) +
           shared_memory(machine) + l1(machine) + l2(machine) + memory_latencies(machine) + surroundings(machine);
}

}  // namespace
}  // namespace gpgpu

std::string gpgpu_sim(const machine::Machine& machine) {
    return gpgpu::head(machine, "Options of GPGPU-Sim, to be saved as gpgpusim.config,") + gpgpu::options(machine);
}

std::string accel_sim(const machine::Machine& machine) {
    return gpgpu::head(machine, "Options of Accel-Sim, of gpgpusim.config and trace.config in one,") +
           gpgpu::options(machine) + gpgpu::trace_classes(machine);
}

}  // namespace gputomo::exports
