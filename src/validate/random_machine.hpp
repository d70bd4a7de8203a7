// Random plausible machines: the known truth that scans are validated against.
#pragma once

#include "machine/machine.hpp"

#include <cstdint>

namespace gputomo::validate {

/// A machine with everything that the simulator needs, the same for a seed on every platform. Its numbers are drawn
/// from what GPUs have had, coupled where physics or sense couples them: enough warps fit to fill every pipeline,
/// levels grow from the SM outwards, and a level is at least 8 cycles slower than the one before. Caches of the global
/// path are called "l1" and "l2", its TLBs "global_l1" and "global_l2". Always valid in the sense of
/// machine::validate().
[[nodiscard]] machine::Machine random_machine(std::uint64_t seed);

}  // namespace gputomo::validate
