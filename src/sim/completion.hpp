// Makes a description that a scan left open in places fit for simulation.
#pragma once

#include "machine/machine.hpp"

#include <string>
#include <vector>

namespace gputomo::sim {

struct Completed {
    machine::Machine machine;
    std::vector<std::string> assumed;  ///< for the user: what was filled in, as "caches.l1.scope = sm", and what
                                       ///< is ignored (sim/ignored_leaves.hpp)
};

/// The method of leaves that completed() fills in.
inline constexpr const char* kAssumedMethod = "assumed for simulation";

/// Fills in what the simulator needs and a scan did not find, or left undecided. A value with several candidates
/// becomes the first of them. A value that lies in an interval becomes its lower end, because that was seen to hold.
/// Everything else gets a default, listed in docs/architecture.md. The first cache and TLB of a path belong to an SM,
/// further ones to the whole GPU. A cache or TLB without known sets has 16 ways and LRU replacement. Lines have 128
/// bytes. TLB entries span as much as those of the level before, or 2 MiB. An SM has one scheduler for each 32 lanes
/// of its widest pipeline. Operations run on the pipeline of their kind. Threads of a warp are independent from
/// compute capability 7.0 on (CUDA programming guide). Textures and constants take the path of global memory where
/// they have none of their own. A path's last caches become memory of the same latency where their size is not known.
/// Instructions are always there where no level of their path is known. A leaf without a default stays open, and
/// make_device() names it.
[[nodiscard]] Completed completed(machine::Machine machine);

}  // namespace gputomo::sim
