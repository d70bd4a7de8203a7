// The curves of a measured throughput surface on which models of latency hiding are judged.
#pragma once

#include "measure/mix/mix_surface.hpp"
#include "models/evaluation.hpp"

#include <vector>

namespace gputomo::compare {

/// The access of a measured mix that the models' kind of access stands for.
[[nodiscard]] measure::MixAccess mix_access(models::Access access);

struct MixChoice {
    int chains = 1;           ///< independent dependence chains of each warp (instruction-level parallelism)
    std::vector<int> alphas;  ///< arithmetic instructions for each access; empty selects every mix
    /// Adds occupancies that give schedulers unequal numbers of warps, or that lie close together. Models are not
    /// judged on these.
    bool every_occupancy = false;
};

/// Returns the mixes of `p.access`, sorted by alpha, at occupancies that give each scheduler the same number of warps.
/// Curves of accesses alone and of adds alone become parameters in `p`, and no model is judged on them. Where `p` lacks
/// the throughput or latency of the access, these curves supply it.
[[nodiscard]] std::vector<models::MeasuredMix> judged_mixes(const measure::MixSurface& surface, const MixChoice& choice,
                                                            models::Parameters& p);

}  // namespace gputomo::compare
