#include "predict/launch/sm_rates.hpp"

#include "costs/dram_writes.hpp"
#include "costs/issue_slots.hpp"
#include "costs/lines_in_flight.hpp"
#include "machine/cache_scope.hpp"
#include "machine/dram_variation.hpp"
#include "machine/gpc_size.hpp"
#include "machine/store_queue.hpp"
#include "units/error.hpp"
#include "units/warp.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

namespace gputomo::predict {
namespace {

/// Lines of `lines_beside` have this size.
constexpr double kBytesOfLine = 128;

template <class Field>
double needed(const Field& field, std::string_view path, std::string_view origin) {
    if (!field) throw InputError(fmt::format("{}: {}: missing; expected a number", origin, path));
    return static_cast<double>(*field);
}

const machine::Cache* cache_named(const machine::Machine& machine, const std::string& name) {
    const auto found = machine.caches.find(name);
    return found == machine.caches.end() ? nullptr : &found->second;
}

Bandwidth bandwidth_of(const machine::Machine& machine, const std::string& access, const Bandwidth& otherwise,
                       std::vector<std::string>& assumptions) {
    const auto found = machine.accesses.find(access);
    if (found == machine.accesses.end() || !found->second.bytes_per_cycle) {
        assumptions.push_back(
            fmt::format("accesses.{}.bytes_per_cycle: not described; the bandwidth of loads applies", access));
        return otherwise;
    }
    return {.sm = found->second.sm_bytes_per_cycle.value_or(otherwise.sm), .gpu = *found->second.bytes_per_cycle};
}

void add_caches(SmRates& rates, const machine::Machine& machine, std::uint64_t shared_bytes, std::string_view origin) {
    const auto path = machine.paths.find("global");
    if (path == machine.paths.end()) throw InputError(fmt::format("{}: paths.global: missing; expected it", origin));
    rates.refresh = machine::refresh_of(machine.memory, 1000 * rates.clock_ghz);
    rates.memory_latency = needed(path->second.memory_latency, "paths.global.memory_latency", origin) -
                           machine::refresh_wait_of(path->second, rates.refresh);
    rates.memory_line_range = machine::line_range(path->second, rates.refresh);
    rates.access_slots = costs::slots_beside_others(path->second.issue_slots.value_or(1), rates.registers);
    if (const auto* const l1 = machine::near_cache(machine, "global"); l1 != nullptr && l1->latency) {
        const auto beside = costs::lines_beside(machine, static_cast<std::int64_t>(shared_bytes));
        rates.l1_bytes =
            beside ? static_cast<double>(beside->lines) * kBytesOfLine : static_cast<double>(l1->capacity.value_or(0));
        rates.l1_latency = static_cast<double>(*l1->latency);
        rates.l1_keeps_stores = l1->allocation.value_or("load") == "load-store";
    }
    if (const auto* const l2 = machine::shared_cache(machine, "global"); l2 != nullptr && l2->latency) {
        rates.l2_bytes = static_cast<double>(l2->capacity.value_or(0));
        rates.l2_latency = static_cast<double>(*l2->latency);
        rates.l2_granule = static_cast<double>(l2->sector.value_or(32));
        rates.l2_sides = static_cast<double>(std::max<std::int64_t>(1, l2->partitions.value_or(1)));
        rates.loads = {l2->sm_bytes_per_cycle.value_or(0), l2->bytes_per_cycle.value_or(0)};
        rates.gpc_loads = l2->gpc_bytes_per_cycle.value_or(0);
        rates.merged_loads = static_cast<double>(l2->merged_requests.value_or(1));
        rates.far = machine::far_memory(path->second, *l2);
        rates.l2_fabric = l2->fabric_bytes_per_cycle.value_or(0);
        rates.stores_block_fills = l2->filling_store.value_or("merges") == "blocks";
    }
    if (rates.l2_latency == 0) rates.l2_latency = rates.memory_latency;
    if (rates.l1_latency == 0) rates.l1_latency = rates.l2_latency;
}

void add_cold_start(SmRates& rates, const machine::Machine& machine) {
    rates.code = read_only_rates_of(machine, "instruction");
    rates.code.loaded = static_cast<std::uint64_t>(machine.launch.code_prefetch.value_or(0));
    rates.code.arrival = costs::code_arrival_of(machine.launch);
    rates.code.prefetched_lines = static_cast<std::uint64_t>(machine.instruction_supply.prefetch_lines.value_or(0));
    rates.constants = read_only_rates_of(machine, "constant");
    rates.constant_lines = costs::constant_line_spec_of(machine);
    rates.constants.loaded = launch::kConstantBankBytes;
    rates.store_drain = machine.launch.store_drain.value_or(0);
    rates.load_drain = machine.launch.load_drain.value_or(0);
    const auto path = machine.paths.find("global");
    if (path == machine.paths.end()) return;
    for (const auto& name : path->second.tlbs.value_or({})) {
        const auto tlb = machine.tlbs.find(name);
        if (tlb == machine.tlbs.end() || !tlb->second.span) return;
        rates.tlbs.push_back({.span = static_cast<double>(*tlb->second.span),
                              .penalty = static_cast<double>(tlb->second.miss_penalty.value_or(0)),
                              .of_sm = tlb->second.scope.value_or("gpu") == "sm",
                              .known = tlb->second.outlasts_launches.value_or(false)});
    }
}

}  // namespace

SmRates sm_rates_of(const machine::Machine& machine, std::uint64_t shared_bytes, std::string_view origin) {
    SmRates rates;
    rates.gpu = machine.identity.name.value_or("GPU");
    rates.sms = needed(machine.topology.sms, "topology.sms", origin);
    rates.clock_ghz = needed(machine.clock.sm_mhz, "clock.sm_mhz", origin) / 1000;
    rates.gpcs = static_cast<double>(std::max<std::size_t>(1, machine::gpc_sizes(machine.topology).size()));
    rates.schedulers = static_cast<int>(needed(machine.issue.schedulers_per_sm, "issue.schedulers_per_sm", origin));
    rates.issue_interval = machine.issue.issue_interval.value_or(1);
    rates.oldest_block_first = machine.issue.block_priority.value_or("none") == "oldest";
    rates.max_warps = static_cast<int>(machine.topology.max_threads_per_sm.value_or(0) / kWarpSize);
    rates.store_queue = machine.issue.store_queue.value_or(machine::kAssumedStoreQueue);
    rates.registers = costs::register_file_of(machine);
    rates.shared_queue = costs::shared_queue_spec_of(machine.shared);
    rates.shared_slots = costs::slots_beside_others(machine.shared.issue_slots.value_or(1), rates.registers);
    rates.barrier_latency = static_cast<double>(machine.issue.barrier_latency.value_or(0));
    rates.branch_latency = static_cast<double>(machine.issue.branch_latency_taken.value_or(0));
    rates.profiler_cycles = machine.launch.profiler_cycles.value_or(0);
    rates.block_interval = machine.launch.block_interval.value_or(0);
    rates.counts_ends = machine.launch.first_block_interval.known();
    rates.first_interval = machine.launch.first_block_interval.value_or(0);
    rates.next_interval = machine.launch.next_block_interval.value_or(0);
    rates.block_replacement = static_cast<double>(machine.launch.block_replacement.value_or(0));
    add_caches(rates, machine, shared_bytes, origin);
    rates.stores = bandwidth_of(machine, "l2_store", rates.loads, rates.assumptions);
    rates.atomics = bandwidth_of(machine, "l2_atomic", rates.loads, rates.assumptions);
    rates.atomic_units = costs::atomic_units_of(machine);
    if (const auto atomics = machine.accesses.find("l2_atomic"); atomics != machine.accesses.end())
        rates.atomics_in_flight = static_cast<double>(atomics->second.sm_sectors_in_flight.value_or(0));
    rates.stores_block_fills = rates.stores_block_fills && rates.atomic_units;
    const auto& memory = machine.memory;
    rates.memory_bandwidth = needed(memory.read_bandwidth, "memory.read_bandwidth", origin) / rates.clock_ghz;
    rates.memory_peak = std::max(rates.memory_bandwidth, memory.peak_bandwidth.value_or(0) / rates.clock_ghz);
    rates.write_cost = costs::write_cost(memory);
    rates.partial_stores = costs::partial_stores_of(machine);
    if (memory.contention_slopes && memory.contention_limits) {
        const auto& slopes = memory.contention_slopes.value;
        const auto& limits = memory.contention_limits.value;
        if (slopes.size() != limits.size())
            throw InputError(
                fmt::format("{}: memory.contention_limits: found {} numbers; expected {} as in "
                            "memory.contention_slopes",
                            origin, limits.size(), slopes.size()));
        for (std::size_t i = 0; i < slopes.size(); ++i)
            rates.contention.push_back({slopes[i], limits[i] / rates.clock_ghz});
    }
    rates.write_delay = memory.write_delay.value_or(0);
    rates.sm_spread = memory.sm_spread.value_or(0);
    rates.texture_latency = rates.l1_latency;
    if (const auto caches = machine::caches_on(machine, "texture"); !caches.empty())
        if (const auto* const cache = cache_named(machine, caches.front()); cache != nullptr && cache->latency)
            rates.texture_latency = static_cast<double>(*cache->latency);
    const auto* const constants = cache_named(machine, "constant_l1");
    rates.constant_latency =
        constants != nullptr ? static_cast<double>(constants->latency.value_or(0)) : rates.l1_latency;
    add_cold_start(rates, machine);
    rates.bulk = costs::bulk_spec_of(machine);
    rates.fences = costs::fence_spec_of(machine);
    rates.constants_read = costs::constant_spec_of(machine);
    return rates;
}

}  // namespace gputomo::predict
