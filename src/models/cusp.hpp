// Finds the cusp: hiding the latencies of arithmetic and memory accesses together may need more warps than hiding
// either alone (Volkov 2016, 4.5, Fig. 4.6).
#pragma once

#include "models/evaluation.hpp"

#include <map>
#include <optional>
#include <vector>

namespace gputomo::models {

/// The warps that hide the latencies of one mix.
struct Need {
    std::optional<int> warps;  ///< fewest warps per SM with kHidden of the peak; nullopt if no occupancy reaches it
    double attained = 0;       ///< the largest share of the peak at any occupancy
};
/// Needs by alpha: 0 is memory accesses alone, Mix::kArithmeticOnly is arithmetic alone.
using Needs = std::map<double, Need>;

/// Measured needs of the mixes, and of each kind of instruction alone if the parameters have its curve.
[[nodiscard]] Needs measured_needs(const Parameters& parameters, const std::vector<MeasuredMix>& surface);

/// Needs of the same mixes by a model, searched up to `most` warps even if an SM holds fewer.
[[nodiscard]] Needs estimated_needs(const Model& model, const Parameters& parameters, const Needs& measured, double ilp,
                                    int most);

/// The mix that needs the most warps. If no occupancy is enough for several mixes, it is the one that attains the
/// smallest share of its peak.
struct Cusp {
    std::optional<int> warps;  ///< warps that it needs; nullopt if no occupancy is enough
    double attained = 0;       ///< its largest share of the peak
    double alpha = 0;          ///< the middle one of the mixes that need as many warps
    double first_alpha = 0;    ///< the smallest alpha that needs as many warps, or for which none is enough
    double last_alpha = 0;     ///< the largest such alpha
    /// Whether it needs more than the smallest and the largest alpha. Otherwise there is no cusp.
    bool above_both_ends = false;
};

/// Returns nullopt for empty needs.
[[nodiscard]] std::optional<Cusp> cusp_of(const Needs& needs);

}  // namespace gputomo::models
