// A measured surface of throughputs as models of latency hiding are judged on it.
#pragma once

#include "measure/mix/mix_surface.hpp"
#include "models/evaluation.hpp"

#include <vector>

namespace gputomo::compare {

[[nodiscard]] measure::MixAccess mix_access(models::Access access);

struct MixChoice {
    int chains = 1;           ///< independent ones of a warp
    std::vector<int> alphas;  ///< all where empty
    /// Also occupancies that give schedulers unequal numbers of warps, or are close together: models are not judged on
    /// them.
    bool every_occupancy = false;
};

/// Mixes of the parameters' kind of access by alpha, at occupancies that give each scheduler the same number of warps.
/// What the surface has of one kind of instruction alone becomes a parameter: no model is judged on that.
[[nodiscard]] std::vector<models::MeasuredMix> judged_mixes(const measure::MixSurface& surface, const MixChoice& choice,
                                                            models::Parameters& p);

}  // namespace gputomo::compare
