#include "sim/sm/engine/residency.hpp"

#include "machine/sm_threads.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace gputomo::sim {
namespace {

/// Blocks that an SM holds where the description does not say: GT200's limit.
constexpr std::int64_t kDefaultBlocksPerSm = 8;
constexpr std::uint64_t kUnlimited = ~std::uint64_t{0};
/// No description has SMs of more warps.
constexpr std::uint64_t kMostWarps = 1 << 16;

std::uint64_t rounded_up(std::uint64_t value, const machine::Integer& unit) {
    const auto u = static_cast<std::uint64_t>(std::max<std::int64_t>(1, unit.value_or(1)));
    return (value + u - 1) / u * u;
}

/// Bytes of its SM's shared memory that a block takes (Volkov 2016, 5.7).
std::uint64_t shared_taken(const machine::SharedMemory& shared, const BlockNeeds& needs) {
    const auto overhead = static_cast<std::uint64_t>(shared.block_overhead.value_or(0)) +
                          static_cast<std::uint64_t>(shared.argument_overhead.value_or(0)) * needs.arguments;
    return rounded_up(needs.shared_bytes + overhead, shared.allocation_unit);
}

/// Warps whose registers fit one partition of the file. Registers of a thread are allocated in steps.
std::uint64_t warps_of_partition(const machine::Topology& topology, const BlockNeeds& needs) {
    const auto per_warp = kWarpSize * rounded_up(static_cast<std::uint64_t>(needs.registers_per_thread),
                                                 topology.register_allocation_unit);
    if (!topology.registers_per_sm || per_warp == 0) return kUnlimited;
    const auto parts = static_cast<std::uint64_t>(topology.register_partitions.value_or(1));
    return static_cast<std::uint64_t>(*topology.registers_per_sm) / parts / per_warp;
}

/// Blocks whose registers fit an SM. Threads of a block are allocated in steps, and a warp's registers lie in one
/// partition of the file.
std::uint64_t blocks_by_registers(const machine::Topology& topology, const BlockNeeds& needs) {
    const std::uint64_t of_partition = warps_of_partition(topology, needs);
    if (of_partition == kUnlimited) return kUnlimited;
    const auto warps = of_partition * static_cast<std::uint64_t>(topology.register_partitions.value_or(1));
    const auto whole_warps = (needs.threads + kWarpSize - 1) / kWarpSize * kWarpSize;
    const auto warps_of_block = (rounded_up(whole_warps, topology.thread_allocation_unit) + kWarpSize - 1) / kWarpSize;
    return warps / warps_of_block;
}

/// Room of an SM for warps and blocks where an empty one holds `resident` blocks, each with `shared_bytes` of shared
/// memory.
costs::BlockLimits room_of(const machine::Machine& machine, const BlockNeeds& needs, std::uint64_t resident,
                           std::uint64_t shared_bytes) {
    const auto& topology = machine.topology;
    const auto schedulers = static_cast<std::uint64_t>(machine.issue.schedulers_per_sm.value_or(1));
    std::uint64_t warps = warps_of_partition(topology, needs);
    if (const auto parts = static_cast<std::uint64_t>(topology.register_partitions.value_or(1));
        warps != kUnlimited && parts != schedulers)
        warps = warps * parts / schedulers;
    const auto& threads = machine::threads_of_sm(topology);
    if (threads) warps = std::min(warps, static_cast<std::uint64_t>(*threads) / kWarpSize / schedulers);
    auto most = static_cast<std::uint64_t>(topology.max_blocks_per_sm.value_or(kDefaultBlocksPerSm));
    if (shared_bytes != 0 && machine.shared.capacity) {
        // The launch leaves the rest of the storage to the cache.
        auto kept = *machine.shared.capacity;
        if (const auto& options = machine.shared.capacity_options) {
            const auto split =
                std::ranges::lower_bound(options.value, static_cast<std::int64_t>(resident * shared_bytes));
            if (split != options.value.end()) kept = *split;
        }
        most = std::min(most, static_cast<std::uint64_t>(kept) / shared_bytes);
    }
    costs::BlockLimits limits{
        .most_blocks = static_cast<std::uint32_t>(most),
        .warps_of_block = static_cast<std::uint32_t>((needs.threads + kWarpSize - 1) / kWarpSize),
        .warps_of_scheduler = static_cast<std::uint32_t>(std::min<std::uint64_t>(warps, kMostWarps)),
        .scheduler_step = static_cast<std::uint32_t>(machine.launch.scheduler_step.value_or(0)),
        .warps_give_back = machine.launch.given_back.known() && *machine.launch.given_back == "warps"};
    // Whatever the partitions of the registers are, an empty SM holds what its residency says.
    limits.hold(static_cast<std::uint32_t>(resident), static_cast<std::uint32_t>(schedulers));
    return limits;
}

}  // namespace

Residency resident_blocks(const machine::Machine& machine, const BlockNeeds& needs) {
    const auto& topology = machine.topology;
    Residency result;
    const auto refuse = [&](std::uint64_t asked, const machine::Integer& most, std::string_view what) {
        if (most && asked > static_cast<std::uint64_t>(*most) && result.why.empty())
            result.why = fmt::format("{} {} asked; the limit is {}", asked, what, *most);
    };
    const std::uint64_t by_registers = needs.threads == 0 ? 0 : blocks_by_registers(topology, needs);
    if (needs.threads == 0) result.why = "0 threads per block asked";
    refuse(needs.threads, topology.max_threads_per_block, "threads per block");
    const auto& shared = machine.shared;
    refuse(needs.shared_bytes, shared.max_per_block ? shared.max_per_block : shared.capacity,
           "bytes of shared memory per block");
    if (by_registers == 0 && result.why.empty())
        result.why = fmt::format("{} threads of {} registers asked; the SM has {} registers", needs.threads,
                                 needs.registers_per_thread, *topology.registers_per_sm);
    if (!result.why.empty()) return result;
    std::uint64_t blocks =
        std::min(by_registers, static_cast<std::uint64_t>(topology.max_blocks_per_sm.value_or(kDefaultBlocksPerSm)));
    const auto limit = [&](std::uint64_t each, const machine::Integer& all) {
        if (each != 0 && all) blocks = std::min(blocks, static_cast<std::uint64_t>(*all) / each);
    };
    const auto warps = (needs.threads + kWarpSize - 1) / kWarpSize;
    limit(warps * kWarpSize, machine::threads_of_sm(topology));
    const auto each = shared_taken(shared, needs);
    limit(each, shared.capacity);
    result.blocks = static_cast<std::uint32_t>(std::max<std::uint64_t>(blocks, 1));
    result.shared_of_block = each;
    result.room = room_of(machine, needs, result.blocks, each);
    return result;
}

std::uint64_t local_memory_of(const machine::Machine& machine, std::uint64_t frame_bytes) {
    const auto& topology = machine.topology;
    const auto threads = machine::threads_of_sm(topology).value_or(kDefaultThreadsPerSm);
    return frame_bytes * static_cast<std::uint64_t>(threads * *topology.sms);
}

}  // namespace gputomo::sim
