// Which lines a full set evicted, read from a trace over one line more than its ways, and how well a policy explains
// it.
#pragma once

#include "deduce/cache/policy/policy_model.hpp"
#include "deduce/cache/traces/trace_segment.hpp"

#include <cstdint>
#include <vector>

namespace gputomo::deduce::cache {

/// A load as a way sees it: its line is used, or it is evicted and another line fills the way.
struct Step {
    std::size_t load = 0;  ///< index in the segment
    std::uint32_t way = 0;
    bool evicted = false;
};

/// How well a policy explains a segment, under the likeliest interpretation of its slow loads.
struct Explanation {
    double likelihood = 0;    ///< natural logarithm, of the segment's second half
    int victims = 0;          ///< evictions in the second half
    int explained = 0;        ///< those of them whose victim the policy allows
    std::vector<Step> steps;  ///< of the whole segment
    /// First load after which two equally likely interpretations exchange lines between interchangeable ways; the
    /// number of loads if there is none.
    std::size_t unsure = 0;
};

/// Natural logarithm of the likelihood of a victim that the policy evicts with probability `odds`. A share
/// `unexplained` of the victims does not follow the policy and is any of the `ways` with the same probability. The
/// share bounds what one wrong victim costs; more than 2% makes policies harder to distinguish.
[[nodiscard]] double likelihood_of_victim(double odds, std::uint32_t ways, double unexplained = 0.02);

/// Exactly one of the lines is absent at any time: the victim of a miss is the line that misses next. A slow load may
/// also be an outlier (probability `outlier_rate`), so several interpretations are followed at once, each with the
/// policy's state.
[[nodiscard]] Explanation explain(const TraceSegment& segment, std::uint32_t ways, const PolicyModel& policy,
                                  double outlier_rate);
/// As explain(), for a policy of which only a part is known: a victim that it does not predict is likelier than an
/// outlier.
[[nodiscard]] Explanation explain_with_partial_model(const TraceSegment& segment, std::uint32_t ways,
                                                     const PolicyModel& policy, double outlier_rate);

/// The order in which a policy evicts ways that are equally good victims.
struct WayOrder {
    std::vector<std::uint32_t> place_of_way;  ///< 0 goes first
    double cost =
        0;  ///< natural logarithm of the number of orders to choose from, at most that of the choices observed
};
/// Learns from the first half of the steps which of several possible victims goes first.
[[nodiscard]] WayOrder learn_way_order(const std::vector<Step>& steps, std::uint32_t ways, const PolicyModel& policy);

}  // namespace gputomo::deduce::cache
