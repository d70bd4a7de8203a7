// The rows of the catalogue: one function per experiment file.
#pragma once

#include "experiments/experiment.hpp"

namespace gputomo::experiments {

[[nodiscard]] Experiment attributes_experiment();
[[nodiscard]] Experiment clock_experiment();
[[nodiscard]] Experiment arithmetic_latency_experiment();
[[nodiscard]] Experiment arithmetic_throughput_experiment();
[[nodiscard]] Experiment arithmetic_units_experiment();
[[nodiscard]] Experiment issue_experiment();
[[nodiscard]] Experiment issue_cost_experiment();
[[nodiscard]] Experiment tensor_products_experiment();
[[nodiscard]] Experiment warpgroup_products_experiment();
[[nodiscard]] Experiment shared_barriers_experiment();
[[nodiscard]] Experiment fences_experiment();
[[nodiscard]] Experiment bulk_copies_experiment();
[[nodiscard]] Experiment clusters_experiment();
[[nodiscard]] Experiment shared_latency_experiment();
[[nodiscard]] Experiment shared_throughput_experiment();
[[nodiscard]] Experiment shared_queue_experiment();
[[nodiscard]] Experiment caches_experiment();
[[nodiscard]] Experiment constant_caches_experiment();
[[nodiscard]] Experiment constant_bandwidth_experiment();
[[nodiscard]] Experiment load_intervals_experiment();
[[nodiscard]] Experiment texture_caches_experiment();
[[nodiscard]] Experiment instruction_caches_experiment();
[[nodiscard]] Experiment cold_code_experiment();
[[nodiscard]] Experiment fetch_block_experiment();
[[nodiscard]] Experiment operand_banks_experiment();
[[nodiscard]] Experiment tlb_experiment();
[[nodiscard]] Experiment page_window_experiment();
[[nodiscard]] Experiment page_walk_experiment();
[[nodiscard]] Experiment texture_tlb_experiment();
[[nodiscard]] Experiment scopes_experiment();
[[nodiscard]] Experiment latency_map_experiment();
[[nodiscard]] Experiment tlb_scopes_experiment();
[[nodiscard]] Experiment tlb_launches_experiment();
[[nodiscard]] Experiment dram_bandwidth_experiment();
[[nodiscard]] Experiment l2_fabric_experiment();
[[nodiscard]] Experiment gpc_ports_experiment();
[[nodiscard]] Experiment filling_lines_experiment();
[[nodiscard]] Experiment launch_experiment();
[[nodiscard]] Experiment first_blocks_experiment();
[[nodiscard]] Experiment control_flow_experiment();
[[nodiscard]] Experiment barriers_experiment();
[[nodiscard]] Experiment register_file_experiment();
[[nodiscard]] Experiment shared_allocation_experiment();
[[nodiscard]] Experiment shared_split_experiment();
[[nodiscard]] Experiment outstanding_experiment();
[[nodiscard]] Experiment occupancy_experiment();
[[nodiscard]] Experiment occupancy_over_time_experiment();
[[nodiscard]] Experiment block_priority_experiment();
[[nodiscard]] Experiment memory_parallelism_experiment();
[[nodiscard]] Experiment memory_latencies_experiment();
[[nodiscard]] Experiment random_access_experiment();
[[nodiscard]] Experiment write_delay_experiment();
[[nodiscard]] Experiment memory_pauses_experiment();
[[nodiscard]] Experiment memory_refresh_experiment();
[[nodiscard]] Experiment kernels_experiment();
[[nodiscard]] Experiment l2_copy_experiment();
[[nodiscard]] Experiment atomic_contention_experiment();
[[nodiscard]] Experiment access_patterns_experiment();

}  // namespace gputomo::experiments
