// Random plausible machines, the known truth that scans are validated against.
#pragma once

#include "machine/machine.hpp"

#include <cstdint>

namespace gputomo::validate {

/// A machine with everything that the simulator needs; a seed gives the same machine on every platform. Its numbers lie
/// in the ranges that GPUs have had and are consistent with each other. Enough warps fit to fill every pipeline, levels
/// grow from the SM outwards, and each level is at least 8 cycles slower than the one before. The caches of the global
/// path are called "l1" and "l2", its TLBs "global_l1" and "global_l2". machine::validate() accepts every machine.
[[nodiscard]] machine::Machine random_machine(std::uint64_t seed);

}  // namespace gputomo::validate
