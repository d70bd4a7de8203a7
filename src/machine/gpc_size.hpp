// Where a description does not say how many SMs a GPC has.
#pragma once

#include <cstdint>

namespace gputomo::machine {

/// Stands for a missing `topology.sms_per_gpc`. A GPC of current GPUs has 16 or 18 SMs, and some may be disabled.
inline constexpr std::int64_t kAssumedSmsPerGpc = 16;

}  // namespace gputomo::machine
