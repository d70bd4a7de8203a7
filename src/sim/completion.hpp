// Makes a description that a scan left open in places fit for simulation.
#pragma once

#include "machine/machine.hpp"

#include <string>
#include <vector>

namespace gputomo::sim {

struct Completed {
    machine::Machine machine;
    std::vector<std::string> assumed;  ///< "caches.l1.scope = sm", for the user
};

/// Fills in what the simulator needs and timing from one SM does not tell, or left undecided. A value that is open
/// between candidates becomes the first of them, one known to lie in an interval its lower end, because that was seen
/// to hold. Else (docs/methods.md): the first cache and TLB of a path are the SM's, further ones the whole GPU's; a
/// cache or TLB whose sets were not found has 16 ways and LRU replacement; lines have 128 bytes; TLB entries span what
/// those of the level before do, or 2 MiB; an SM has a scheduler for each 32 lanes of its widest pipeline; operations
/// run on the pipeline of their kind; threads of a warp are independent from compute capability 7.0 on (CUDA
/// programming guide); textures and constants take the path of global memory where they have none; a path's last caches
/// of which no size is known are memory that answers as fast; instructions whose levels are open are always there. What
/// it has no default for stays open, and make_device() names it.
[[nodiscard]] Completed completed(machine::Machine machine);

}  // namespace gputomo::sim
