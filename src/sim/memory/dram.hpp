// DRAM: channels that serve one transaction at a time, so that latency grows by queueing.
#pragma once

#include "machine/machine.hpp"

#include <cstdint>
#include <vector>

namespace gputomo::sim {

class Dram {
public:
    /// Rates come from memory.read_bandwidth (or peak_bandwidth) over memory.channels at clock.sm_mhz. Reads are served at that
    /// rate; written bytes cost more, by the bus turnarounds that they force, so that equal shares of both reach
    /// memory.copy_bandwidth. Throws InputError naming the missing field.
    explicit Dram(const machine::Machine& machine);

    /// Queueing delay of a transaction that arrives at `now`; 0 when its channel is free.
    double serve(std::uint64_t physical, std::uint32_t bytes, bool write, double now);

private:
    /// Consecutive blocks of this size lie on different channels.
    static constexpr std::uint64_t kInterleave = 256;
    /// A channel is a server that may work off up to this many cycles of its idle past, since transactions reach it a little
    /// out of order (they are walked when they are issued, not when they arrive).
    static constexpr double kReorderWindow = 64;
    std::vector<double> free_at_;
    double cycles_per_read_byte_ = 0;
    double cycles_per_written_byte_ = 0;
};

}  // namespace gputomo::sim
