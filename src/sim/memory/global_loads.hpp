// Cycles that a global load of a warp takes in the SM, beside its latency in the memory system.
//
// A described transaction cost and a described latency of a whole warp's stream were measured with other loads in
// flight. They include cycles for which those loads waited for each other, and for the farthest of their lines. The
// simulated memory makes loads wait as well, so the waiting of the measurement is subtracted here.
#pragma once

#include "machine/dram_variation.hpp"
#include "machine/machine.hpp"

#include <cstddef>

namespace gputomo::sim {

class GlobalLoads {
public:
    /// Throws InputError for a description of DRAM that cannot be simulated.
    explicit GlobalLoads(const machine::Machine& machine);

    /// Cycles from the issue of a load to that of its transaction number `index`. Transactions that a coalesced load
    /// also has are a cycle apart. Each further one adds paths.global.transaction_cost cycles to the latency of a warp
    /// that is alone on the GPU (Volkov 2016, 6.7).
    [[nodiscard]] double departure(std::size_t index) const;
    /// Cycles by which a load of a warp with threads in both halves takes longer than that of one thread; may be
    /// negative. From paths.global.warp_latency, which is measured with one warp on each SM (Volkov 2016, 6.1).
    [[nodiscard]] double whole_warp() const { return whole_warp_; }

private:
    [[nodiscard]] double scattered(const machine::Machine& machine) const;
    [[nodiscard]] double streamed(const machine::Machine& machine, double latency) const;

    double line_range_ = 0;  ///< cycles from the latency of the nearest line of memory to that of the farthest
    machine::Refresh refresh_;
    machine::FarMemory far_;
    std::size_t coalesced_ = 1;  ///< transactions that a coalesced load counts as (Volkov 2016, 6.7)
    double spacing_ = 1;
    double whole_warp_ = 0;
};

}  // namespace gputomo::sim
