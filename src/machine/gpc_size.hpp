// Which SMs belong to one GPC.
#pragma once

#include "machine/machine.hpp"

#include <cstdint>
#include <vector>

namespace gputomo::machine {

/// Stands for a missing `topology.sms_per_gpc`. A GPC of current GPUs has 16 or 18 SMs, and some may be disabled.
inline constexpr std::int64_t kAssumedSmsPerGpc = 16;

/// The number of SMs of each GPC, in the order of SMs. Neighbouring groups of SMs that clusters do not leave
/// (`topology.cluster_sms`) belong to one GPC as far as they fit it. Empty where the number of SMs is not described.
[[nodiscard]] std::vector<std::uint32_t> gpc_sizes(const Topology& topology);

/// The GPC of each SM.
[[nodiscard]] std::vector<std::uint32_t> gpcs_of_sms(const Topology& topology);

/// Whether the first blocks of a grid are spread over GPCs (`launch.placement`).
[[nodiscard]] bool places_by_gpc(const Machine& machine);

/// The SMs on which the first blocks of a grid of `blocks` blocks start, one on each, where launches are spread over
/// GPCs. The list has all SMs where there are no more of them than blocks.
[[nodiscard]] std::vector<std::uint32_t> first_sms(const Topology& topology, std::uint64_t blocks);

}  // namespace gputomo::machine
