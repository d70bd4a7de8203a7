// The cusp: hiding the latencies of arithmetic and accesses together may need more warps than hiding either alone
// (Volkov 2016, 4.5, Fig. 4.6).
#pragma once

#include "models/evaluation.hpp"

#include <map>
#include <optional>
#include <vector>

namespace gputomo::models {

/// What hides the latencies of one mix.
struct Need {
    std::optional<int> warps;  ///< the fewest of an SM with kHidden of the peak; nothing where no occupancy has it
    double attained = 0;       ///< the largest share of the peak at any occupancy
};
/// By alpha: 0 is accesses alone, Mix::kArithmeticOnly adds alone.
using Needs = std::map<double, Need>;

/// Of the mixes, and of one kind of instruction alone where the parameters have its curve.
[[nodiscard]] Needs measured_needs(const Parameters& parameters, const std::vector<MeasuredMix>& surface);

/// Of the same mixes by a model, with as many warps as it takes up to `most`, whether they fit an SM or not.
[[nodiscard]] Needs estimated_needs(const Model& model, const Parameters& parameters, const Needs& measured, double ilp,
                                    int most);

/// Where most warps are needed. Of mixes that no occupancy is enough for, the one that stays furthest below its peak
/// needs most.
struct Cusp {
    std::optional<int> warps;  ///< nothing where no occupancy is enough
    double attained = 0;       ///< the largest share of the peak there
    double alpha = 0;          ///< the middle one of those that need as many
    double first_alpha = 0;    ///< of the mixes that need as many, or that no occupancy is enough for
    double last_alpha = 0;     ///< likewise; the same where only one does
    bool above_both_ends =
        false;  ///< more is needed than at the smallest and at the largest alpha: else there is no cusp
};

/// Nothing without needs.
[[nodiscard]] std::optional<Cusp> cusp_of(const Needs& needs);

}  // namespace gputomo::models
