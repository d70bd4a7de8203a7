// The mixes on which models of latency hiding are judged.
#pragma once

#include "measure/mix/mix_surface.hpp"

#include <optional>
#include <vector>

namespace gputomo::measure {

/// Mixes of one kind of access, at the occupancies of mix_occupancies(), which give each scheduler the same number of
/// warps (Volkov 2016, ch. 7).
struct ModelMixes {
    MixAccess access = MixAccess::global;
    std::vector<MixIntensity> intensities;
    int chains = 1;                  ///< dependence chains of each warp
    int schedulers = 1;              ///< of an SM
    int max_warps = 1;               ///< of an SM
    std::optional<int> loop_length;  ///< as in MixPlan
};
[[nodiscard]] MixPlan plan_of(const ModelMixes& mixes);

}  // namespace gputomo::measure
