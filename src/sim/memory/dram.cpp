#include "sim/memory/dram.hpp"

#include "units/error.hpp"

#include <algorithm>

namespace gputomo::sim {

Dram::Dram(const machine::Machine& machine) {
    const auto& memory = machine.memory;
    if (!memory.read_bandwidth && !memory.peak_bandwidth)
        throw InputError("memory.read_bandwidth: missing; the simulator needs it or memory.peak_bandwidth");
    if (!machine.clock.sm_mhz) throw InputError("clock.sm_mhz: missing; the simulator needs it");
    const double read = memory.read_bandwidth ? *memory.read_bandwidth : *memory.peak_bandwidth;
    const double copy = memory.copy_bandwidth.value_or(read);
    const auto channels = std::max<std::int64_t>(1, memory.channels.value_or(1));
    free_at_.assign(static_cast<std::size_t>(channels), 0.0);
    // GB/s over MHz: 1e9 / 1e6 bytes a cycle.
    const double cycles_per_gb = *machine.clock.sm_mhz / 1e3;
    cycles_per_read_byte_ = static_cast<double>(channels) * cycles_per_gb / read;
    cycles_per_written_byte_ = static_cast<double>(channels) * cycles_per_gb * std::max(2 / copy - 1 / read, 0.5 / read);
}

double Dram::serve(std::uint64_t physical, std::uint32_t bytes, bool write, double now) {
    const std::uint64_t block = physical / kInterleave;
    // Higher address bits are folded in, so that power-of-two strides don't meet on one channel.
    const std::uint64_t folded = block ^ (block >> 7) ^ (block >> 13);
    double& free_at = free_at_[folded % free_at_.size()];
    const double service = bytes * (write ? cycles_per_written_byte_ : cycles_per_read_byte_);
    const double start = std::max(now, free_at);
    free_at = std::max(free_at, now - kReorderWindow) + service;
    return start - now;
}

}  // namespace gputomo::sim
