// The levels of translation latency over the range of addresses: each step is a TLB that the range exceeds.
#pragma once

#include "experiments/experiment.hpp"
#include "measure/chase/translation_chase.hpp"

#include <cstdint>
#include <vector>

namespace gputomo::experiments {

/// Loads whose translation takes equally long, because the same TLB or page walk serves it.
struct TranslationLevel {
    double latency = 0;           ///< median, in cycles
    double ceiling = 0;           ///< cycles that nearly all of its loads stay below
    std::uint64_t fits = 0;       ///< bytes of the largest measured range without slower loads
    std::uint64_t overflows = 0;  ///< bytes of the next larger range; 0 if there is none
    /// Latency in each range, in cycles. If the clock steps in several cycles, all slow loads of one range may begin at
    /// the same part of a step. They then read up to half a step too little or too much.
    std::vector<double> by_range;
    double limit = 0;         ///< cycles that its elements exceed in the smallest range that showed it
    std::uint64_t first = 0;  ///< bytes of that range
    double uncertainty = 0;   ///< cycles; not 0 if jitter decides which steps of the clock are read
    [[nodiscard]] double spread() const { return ceiling - latency; }
};

/// Doubles the range of addresses up to the window of the chase. A new level begins where enough loads are slower than
/// any before. The median of the loads would not show it, because of several loads within one entry's span only the
/// first can miss. Adds a row for each range to `trace`. `stride` in bytes, `clock_step` in cycles.
[[nodiscard]] std::vector<TranslationLevel> find_translation_levels(TranslationChase& chase, std::uint64_t stride,
                                                                    double clock_step, results::Trace& trace);

}  // namespace gputomo::experiments
