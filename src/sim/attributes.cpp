#include "sim/attributes.hpp"

#include "machine/cache_scope.hpp"
#include "sim/exec/program.hpp"
#include "sim/memory/description.hpp"

#include <cmath>

namespace gputomo::sim {
namespace {

using device::Attribute;

/// Device memory where the description does not say. The host's memory is used only as it is touched, so a larger value
/// costs nothing.
constexpr std::uint64_t kDefaultMemory = std::uint64_t{1} << 30;

/// Drivers tell the size of the cache that the whole GPU shares, from compute capability 2.0 on.
std::optional<std::int64_t> l2_bytes(const machine::Machine& machine) {
    if (machine.identity.compute_capability_major.value_or(0) < 2) return std::nullopt;
    const machine::Cache* const cache = machine::shared_cache(machine, "global");
    return cache == nullptr || !cache->capacity ? std::nullopt : std::optional(*cache->capacity);
}

/// What a driver says about the memory's pins. The description has only their rate, so each channel gets 64 bits and
/// the clock the value that makes this rate.
std::optional<std::int64_t> memory_attribute(const machine::Memory& memory, Attribute attribute) {
    constexpr std::int64_t kChannelBits = 64;
    constexpr double kTransfersPerClock = 2, kBitsPerByte = 8;
    if (!memory.peak_bandwidth) return std::nullopt;
    const std::int64_t bits = kChannelBits * memory.channels.value_or(1);
    if (attribute == Attribute::memory_bus_width_bits) return bits;
    return std::llround(*memory.peak_bandwidth * 1e6 * kBitsPerByte / kTransfersPerClock / static_cast<double>(bits));
}

/// The largest launch (CUDA C++ Programming Guide, "Technical Specifications per Compute Capability"). Grids of compute
/// capability 1 have 65,535 blocks in x at most; the simulated ones take as many as later GPUs, since the simulator
/// keeps no table of blocks.
std::int64_t most_of_launch(const machine::Machine& machine, Attribute attribute) {
    constexpr std::int64_t kMostX = 0x7FFFFFFF, kMostYz = 65535, kMostBlockZ = 64;
    const bool is_first = machine.identity.compute_capability_major.value_or(0) == 1;
    switch (attribute) {
        case Attribute::max_grid_x: return kMostX;
        case Attribute::max_grid_y: return kMostYz;
        case Attribute::max_grid_z: return is_first ? 1 : kMostYz;
        case Attribute::max_block_z: return kMostBlockZ;
        default: return is_first ? 512 : 1024;
    }
}

}  // namespace

std::uint64_t memory_bytes(const machine::Machine& machine) {
    return machine.memory.capacity ? need_count(machine.memory.capacity, "memory.capacity") : kDefaultMemory;
}

bool has_virtual_mapping(const machine::Machine& machine) {
    return machine.identity.compute_capability_major.value_or(0) >= 6;
}

std::optional<std::int64_t> attribute_of(const machine::Machine& machine, Attribute attribute) {
    const auto known = [](const machine::Integer& field) { return field ? std::optional(*field) : std::nullopt; };
    const auto& topology = machine.topology;
    const auto& shared = machine.shared;
    switch (attribute) {
        case Attribute::compute_capability_major: return known(machine.identity.compute_capability_major);
        case Attribute::compute_capability_minor: return known(machine.identity.compute_capability_minor);
        case Attribute::multiprocessor_count: return known(topology.sms);
        case Attribute::warp_size: return topology.warp_size.value_or(kWarpSize);
        case Attribute::max_threads_per_block: return known(topology.max_threads_per_block);
        case Attribute::max_threads_per_multiprocessor: return known(topology.max_threads_per_sm);
        case Attribute::max_blocks_per_multiprocessor: return known(topology.max_blocks_per_sm);
        case Attribute::max_registers_per_block:
        case Attribute::max_registers_per_multiprocessor: return known(topology.registers_per_sm);
        case Attribute::max_shared_memory_per_block:
        case Attribute::max_shared_memory_per_block_optin:
            return known(shared.max_per_block ? shared.max_per_block : shared.capacity);
        case Attribute::max_shared_memory_per_multiprocessor: return known(shared.capacity);
        case Attribute::clock_rate_khz: return static_cast<std::int64_t>(*machine.clock.sm_mhz * 1000);
        case Attribute::total_memory_bytes: return static_cast<std::int64_t>(memory_bytes(machine));
        case Attribute::max_grid_x:
        case Attribute::max_grid_y:
        case Attribute::max_grid_z:
        case Attribute::max_block_x:
        case Attribute::max_block_y:
        case Attribute::max_block_z: return most_of_launch(machine, attribute);
        case Attribute::concurrent_kernels: return 0;
        case Attribute::virtual_memory_management: return has_virtual_mapping(machine) ? 1 : 0;
        case Attribute::memory_clock_rate_khz:
        case Attribute::memory_bus_width_bits: return memory_attribute(machine.memory, attribute);
        case Attribute::l2_cache_bytes: return l2_bytes(machine);
    }
    return std::nullopt;
}

}  // namespace gputomo::sim
