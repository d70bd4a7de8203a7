#include "sim/sm/engine/description_check.hpp"

#include "sim/exec/program.hpp"
#include "sim/memory/description.hpp"

#include <algorithm>
#include <bit>
#include <initializer_list>

namespace gputomo::sim {
namespace {

/// Catches typing errors; no GPU comes near it.
constexpr std::int64_t kMostSms = 4096;

void check_choice(const machine::Text& field, std::string_view path, std::initializer_list<std::string_view> allowed) {
    if (field && std::find(allowed.begin(), allowed.end(), *field) == allowed.end())
        reject(path, fmt::format("found \"{}\"", *field),
               fmt::format("one of {}", fmt::join(allowed.begin(), allowed.end(), ", ")));
}

void check_count(const machine::Integer& field, std::string_view path, std::int64_t most = std::int64_t{1} << 40) {
    if (field) (void)need_count(field, path, most);
}

void check_cycles(const machine::Integer& field, std::string_view path) {
    if (field) (void)need_cycles(field, path);
}

void check_clock(const machine::Machine& machine) {
    (void)need_rate(machine.clock.sm_mhz, "clock.sm_mhz");
    check_cycles(machine.clock.read_cost, "clock.read_cost");
    check_count(machine.clock.resolution, "clock.resolution");
    check_choice(machine.clock.scope, "clock.scope", {"sm", "tpc", "gpc", "gpu"});
    if (machine.clock.scope.value_or("sm") == "tpc")
        (void)need(machine.topology.sms_per_tpc, "topology.sms_per_tpc", "SMs of a TPC, because clock.scope is tpc");
}

void check_topology(const machine::Topology& topology) {
    (void)need_count(topology.sms, "topology.sms", kMostSms);
    if (topology.warp_size && *topology.warp_size != kWarpSize)
        reject("topology.warp_size", fmt::format("found {}", *topology.warp_size),
               fmt::format("{}, the warp size of PTX", kWarpSize));
    check_count(topology.sms_per_tpc, "topology.sms_per_tpc");
    check_count(topology.max_threads_per_block, "topology.max_threads_per_block");
    check_count(topology.max_threads_per_sm, "topology.max_threads_per_sm");
    check_count(topology.max_blocks_per_sm, "topology.max_blocks_per_sm");
    check_count(topology.registers_per_sm, "topology.registers_per_sm");
    check_count(topology.register_allocation_unit, "topology.register_allocation_unit");
    check_count(topology.thread_allocation_unit, "topology.thread_allocation_unit");
    check_count(topology.register_partitions, "topology.register_partitions", 64);
    check_count(topology.operand_banks, "topology.operand_banks", 64);
    check_count(topology.operand_ports, "topology.operand_ports", 64);
    if (topology.operand_read_cycles) (void)need_rate(topology.operand_read_cycles, "topology.operand_read_cycles");
}

void check_issue(const machine::Issue& issue) {
    if (issue.issue_interval) (void)need_rate(issue.issue_interval, "issue.issue_interval");
    check_cycles(issue.ilp_latency, "issue.ilp_latency");
    if (issue.beside_products) (void)need_rate(issue.beside_products, "issue.beside_products");
    if (issue.store_queue) (void)need_rate(issue.store_queue, "issue.store_queue");
    check_count(issue.dual_issue, "issue.dual_issue", 8);
    check_count(issue.scoreboard_loads, "issue.scoreboard_loads");
    check_count(issue.reissue_transactions, "issue.reissue_transactions");
    check_cycles(issue.barrier_latency, "issue.barrier_latency");
    check_cycles(issue.branch_latency_taken, "issue.branch_latency_taken");
    check_cycles(issue.branch_latency_untaken, "issue.branch_latency_untaken");
    check_cycles(issue.divergence_latency, "issue.divergence_latency");
    check_choice(issue.divergence, "issue.divergence", {"stack", "independent"});
    check_choice(issue.first_path, "issue.first_path", {"taken", "fall-through"});
    check_cycles(issue.warp_barrier_latency, "issue.warp_barrier_latency");
    check_choice(issue.reconvergence, "issue.reconvergence", {"post-dominator"});
    const bool stack = issue.divergence.value_or("stack") == "stack";
    check_choice(issue.spin_within_warp, "issue.spin_within_warp", {stack ? "deadlocks" : "completes"});
    check_choice(issue.barrier_granularity, "issue.barrier_granularity", {"warp", "thread"});
    if (!stack && issue.barrier_granularity.value_or("thread") == "warp")
        reject("issue.barrier_granularity", "found \"warp\"",
               "\"thread\", because threads arrive one by one where issue.divergence is \"independent\"");
}

void check_memory(const machine::Memory& memory) {
    if (memory.coalescing_group &&
        !std::has_single_bit(need_count(memory.coalescing_group, "memory.coalescing_group", kWarpSize)))
        reject("memory.coalescing_group", fmt::format("found {}", *memory.coalescing_group), "a power of two");
    if (!memory.transaction_sizes) return;
    if (memory.transaction_sizes.value.empty())
        reject("memory.transaction_sizes", "found an empty list", "at least one size");
    for (const auto size : *memory.transaction_sizes)
        if (size < 1 || !std::has_single_bit(static_cast<std::uint64_t>(size)))
            reject("memory.transaction_sizes", fmt::format("found {}", size), "powers of two");
}

/// Instructions come through the caches of paths.instruction. Without that path they are always there.
void check_instruction_supply(const machine::Machine& machine) {
    const auto& supply = machine.instruction_supply;
    check_count(supply.instruction_bytes, "instruction_supply.instruction_bytes", 1 << 10);
    if (supply.prefetch_lines && *supply.prefetch_lines != 0)
        check_count(supply.prefetch_lines, "instruction_supply.prefetch_lines", 1 << 10);
    const auto path = machine.paths.find("instruction");
    if (path == machine.paths.end()) {
        const std::string_view given = supply.fetch_block                       ? "fetch_block"
                                       : supply.prefetch_lines.value_or(0) != 0 ? "prefetch_lines"
                                                                                : "";
        if (!given.empty())
            reject("paths.instruction", "missing",
                   fmt::format("a path, because instruction_supply.{} is given", given));
        return;
    }
    const auto keys = path->second.caches.value_or({});
    if (keys.empty())
        reject("paths.instruction.caches", "found no cache",
               "at least one: fetches without a cache cannot be simulated");
    const auto first = machine.caches.find(keys.front());
    if (!supply.fetch_block || first == machine.caches.end()) return;
    const auto line = need_count(first->second.line, key_path("caches", keys.front()) + ".line");
    const auto block = need_count(supply.fetch_block, "instruction_supply.fetch_block");
    if (line % block != 0)
        reject("instruction_supply.fetch_block", fmt::format("found {}", block),
               fmt::format("a divisor of {}, the line of the first instruction cache", line));
}

}  // namespace

void check_description(const machine::Machine& machine) {
    if (machine.launch.block_interval) (void)need_rate(machine.launch.block_interval, "launch.block_interval");
    if (machine.launch.first_block_interval)
        (void)need_rate(machine.launch.first_block_interval, "launch.first_block_interval");
    if (machine.launch.next_block_interval && *machine.launch.next_block_interval != 0)
        (void)need_rate(machine.launch.next_block_interval, "launch.next_block_interval");
    if (machine.launch.load_drain) (void)need_rate(machine.launch.load_drain, "launch.load_drain");
    if (machine.launch.warp_interval) (void)need_rate(machine.launch.warp_interval, "launch.warp_interval");
    if (machine.launch.store_drain) (void)need_rate(machine.launch.store_drain, "launch.store_drain");
    if (machine.launch.code_prefetch && *machine.launch.code_prefetch != 0)
        (void)need_count(machine.launch.code_prefetch, "launch.code_prefetch");
    if (machine.launch.code_prefetch_ready && *machine.launch.code_prefetch_ready != 0)
        (void)need_count(machine.launch.code_prefetch_ready, "launch.code_prefetch_ready");
    if (machine.launch.code_prefetch_rate)
        (void)need_rate(machine.launch.code_prefetch_rate, "launch.code_prefetch_rate");
    check_clock(machine);
    check_topology(machine.topology);
    check_issue(machine.issue);
    for (const auto& [name, pipeline] : machine.pipelines)
        check_choice(pipeline.scope, key_path("pipelines", name) + ".scope", {"scheduler", "sm"});
    (void)slots_of(machine.shared.issue_slots, "shared.issue_slots");
    constexpr std::int64_t kMostQueued = 1 << 12;
    if (machine.shared.queue.value_or(0) != 0) check_count(machine.shared.queue, "shared.queue", kMostQueued);
    if (machine.shared.load_queue.value_or(0) != 0)
        check_count(machine.shared.load_queue, "shared.load_queue", kMostQueued);
    for (const auto& [name, path] : machine.paths)
        (void)slots_of(path.issue_slots, key_path("paths", name) + ".issue_slots");
    check_memory(machine.memory);
    check_instruction_supply(machine);
}

}  // namespace gputomo::sim
