#include "experiments/experiments.hpp"

#include <array>

namespace gputomo::experiments {

std::span<const Experiment> catalogue() {
    // Caches come early, because measuring them leaves the host's processor free to compile the kernels of others.
    static const std::array rows = {
        attributes_experiment(),
        clock_experiment(),
        arithmetic_latency_experiment(),
        caches_experiment(),
        arithmetic_throughput_experiment(),
        issue_experiment(),
        constant_caches_experiment(),
        texture_caches_experiment(),
        arithmetic_units_experiment(),
        issue_cost_experiment(),
        tensor_products_experiment(),
        warpgroup_products_experiment(),
        shared_barriers_experiment(),
        fences_experiment(),
        bulk_copies_experiment(),
        clusters_experiment(),
        shared_latency_experiment(),
        shared_throughput_experiment(),
        shared_queue_experiment(),
        constant_bandwidth_experiment(),
        load_intervals_experiment(),
        instruction_caches_experiment(),
        cold_code_experiment(),
        fetch_block_experiment(),
        operand_banks_experiment(),
        tlb_experiment(),
        page_window_experiment(),
        page_walk_experiment(),
        texture_tlb_experiment(),
        scopes_experiment(),
        latency_map_experiment(),
        tlb_scopes_experiment(),
        tlb_launches_experiment(),
        dram_bandwidth_experiment(),
        l2_fabric_experiment(),
        gpc_ports_experiment(),
        filling_lines_experiment(),
        launch_experiment(),
        first_blocks_experiment(),
        control_flow_experiment(),
        barriers_experiment(),
        register_file_experiment(),
        shared_allocation_experiment(),
        shared_split_experiment(),
        outstanding_experiment(),
        occupancy_experiment(),
        block_priority_experiment(),
        occupancy_over_time_experiment(),
        memory_parallelism_experiment(),
        atomic_contention_experiment(),
        memory_latencies_experiment(),
        random_access_experiment(),
        write_delay_experiment(),
        memory_pauses_experiment(),
        memory_refresh_experiment(),
        kernels_experiment(),
        l2_copy_experiment(),
        access_patterns_experiment(),
    };
    return rows;
}

}  // namespace gputomo::experiments
