// Which lines a full set evicted, read from a walk over one line more than it has ways, and how well a policy explains
// that.
#pragma once

#include "deduce/cache/policy_model.hpp"

#include <cstdint>
#include <vector>

namespace gputomo::deduce::cache {

/// Loads recorded without a break: the line of each (0 .. ways), whether it was slow, and whether slower or faster than
/// misses are.
struct TraceSegment {
    std::vector<std::uint32_t> lines;
    std::vector<bool> missed, outlier;
    bool periodic = false;          ///< the second half shows what the first does
    std::size_t periodic_from = 0;  ///< where it does: load from which it periodic itself, and outliers are left out
};

/// What happens to a way: its line is used, or it is evicted and another line comes in its place.
struct Step {
    std::size_t load = 0;
    std::uint32_t way = 0;
    bool evicted = false;
};

struct Explanation {
    double likelihood = 0;    ///< natural logarithm; of what happened in the second half of the segment
    int victims = 0;          ///< there
    int explained = 0;        ///< of those, evicted ways that the policy does evict
    std::vector<Step> steps;  ///< of the whole segment, under the best reading of its slow loads
    /// First load from which two readings are as good that have lines change places in ways that are alike; the number
    /// of loads if there is none.
    std::size_t unsure = 0;
};

/// Natural logarithm of how likely a victim is that a policy evicts with these odds: it is asked to explain all but a
/// share `unexplained` of them.
[[nodiscard]] double likelihood_of_victim(double odds, std::uint32_t ways, double unexplained = 0.02);

/// Exactly one line is absent at a time: the victim of a miss is the line that misses next. A slow load may also be an
/// accident (probability `accidental`), so several readings are followed at once, each with the state that the policy
/// would be in.
[[nodiscard]] Explanation explain(const TraceSegment& segment, std::uint32_t ways, const PolicyModel& policy,
                                  double outlier_rate);
/// The same by a policy that is known in part: a victim that it does not foresee is rather that than an accident.
[[nodiscard]] Explanation explain_with_partial_model(const TraceSegment& segment, std::uint32_t ways,
                                                     const PolicyModel& policy, double outlier_rate);

/// Places of the ways, and what it costs to say them, as a logarithm: no more than the choices that they were learnt
/// from.
struct WayOrder {
    std::vector<std::uint32_t> place_of_way;
    double cost = 0;
};
/// From which of several that a policy might evict goes first in the first half of the steps.
[[nodiscard]] WayOrder learn_way_order(const std::vector<Step>& steps, std::uint32_t ways, const PolicyModel& policy);

}  // namespace gputomo::deduce::cache
