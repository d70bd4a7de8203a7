// What a warp's load from global memory takes beside its way to the memory, from what is described of loads that were
// measured with others under way.
//
// A described cost of a transaction and a described latency of a whole warp's stream contain what the loads of that
// measurement waited for each other. The simulated memory makes them wait as well, so that this share is taken off
// here.
#pragma once

#include "machine/machine.hpp"

#include <cstddef>

namespace gputomo::sim {

class GlobalLoads {
public:
    /// Throws InputError for a description of DRAM that cannot be simulated.
    explicit GlobalLoads(const machine::Machine& machine);

    /// Cycles from the issue of a load to that of its transaction number `index`. Those that a coalesced load has as
    /// well are a cycle apart, further ones as far as paths.global.transaction_cost says: cycles that each adds to the
    /// latency of a warp that is alone on the GPU (Volkov 2016, 6.7).
    [[nodiscard]] double departure(std::size_t index) const;
    /// Cycles that a load of a warp with threads in both halves takes more than one thread's; negative where it takes
    /// less (paths.global.warp_latency, which is measured with one warp on each SM: Volkov 2016, 6.1).
    [[nodiscard]] double whole_warp() const { return whole_warp_; }

private:
    [[nodiscard]] double scattered(const machine::Machine& machine) const;
    [[nodiscard]] double streamed(const machine::Machine& machine, double latency) const;

    std::size_t coalesced_ = 1;  ///< transactions that a coalesced load counts as (Volkov 2016, 6.7)
    double spacing_ = 1;
    double whole_warp_ = 0;
};

}  // namespace gputomo::sim
