// Small machine descriptions for tests.
#pragma once

#include "machine/machine.hpp"

#include <initializer_list>
#include <string>

namespace gputomo::sim {

inline void add_operation(machine::Machine& m, const std::string& key, std::int64_t latency, double throughput,
                          std::vector<std::string> units, std::int64_t instructions = 1) {
    auto& row = m.operations[key];
    row.latency.set(latency);
    row.throughput.set(throughput);
    row.units.set(std::move(units));
    row.instructions.set(instructions);
}

/// One SM like GT200's: 24-cycle SP with 8 lanes, half-warps, 16 banks, no caches, memory at 440 cycles.
inline machine::Machine small_machine() {
    machine::Machine m;
    m.clock.sm_mhz.set(1000);
    m.clock.read_cost.set(28);
    m.clock.resolution.set(1);
    m.clock.scope.set("sm");
    m.topology.sms.set(1);
    m.topology.sms_per_tpc.set(1);
    m.topology.max_threads_per_block.set(512);
    m.topology.max_threads_per_sm.set(1024);
    m.topology.max_blocks_per_sm.set(8);
    m.issue.schedulers_per_sm.set(1);
    m.issue.issue_interval.set(2);
    m.issue.divergence.set("stack");
    m.issue.first_path.set("taken");
    m.issue.barrier_latency.set(20);
    m.issue.barrier_granularity.set("warp");
    m.pipelines["sp"].lanes.set(8);
    m.pipelines["sfu"].lanes.set(2);
    add_operation(m, "add.s32", 24, 8, {"sp"});
    add_operation(m, "add.f32", 24, 8, {"sp"});
    add_operation(m, "mul.f32", 24, 11.2, {"sp", "sfu"});
    add_operation(m, "mul.lo.s32", 96, 2, {"sp"}, 4);
    add_operation(m, "rsqrt.approx.f32", 28, 2, {"sfu"});
    m.shared.capacity.set(16384);
    m.shared.banks.set(16);
    m.shared.bank_width.set(4);
    m.shared.latency.set(38);
    m.shared.conflict_cost.set(16);
    m.shared.access_group.set(16);
    m.shared.bytes_per_cycle.set(32);
    m.paths["global"].caches.set({});
    m.paths["global"].memory_latency.set(440);
    m.memory.read_bandwidth.set(32);
    m.memory.channels.set(1);
    m.memory.coalescing_group.set(16);
    m.memory.transaction_sizes.set({32, 64, 128});
    return m;
}

/// A cache with every leaf that the simulator needs.
inline machine::Cache small_cache(std::int64_t line, std::int64_t ways, std::int64_t sets, std::int64_t latency,
                                  const std::string& policy = "lru") {
    machine::Cache cache;
    cache.scope.set("sm");
    cache.line.set(line);
    cache.ways.set(ways);
    cache.sets.set(sets);
    cache.capacity.set(line * ways * sets);
    cache.policy.set(policy);
    cache.latency.set(latency);
    return cache;
}

/// small_machine() with units that take a warp each cycle, so that issue is the limit.
inline machine::Machine wide_machine() {
    auto machine = small_machine();
    machine.issue.issue_interval.set(1);
    machine.pipelines["sp"].lanes.set(64);
    add_operation(machine, "add.s32", 10, 64, {"sp"});
    return machine;
}

}  // namespace gputomo::sim
