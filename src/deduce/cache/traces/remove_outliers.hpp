// Removes outliers from the trace of a set that repeats itself, and counts how much of it repeats.
#pragma once

#include "deduce/cache/traces/trace_segment.hpp"

#include <cstddef>

namespace gputomo::deduce::cache {

/// Longest period of a set, in passes over its access sequence, that is looked for: a chosen bound. A set with a longer
/// period keeps its outliers; a larger bound takes one more comparison of the whole trace for each pass.
constexpr std::size_t kMaxPeriod = 12;

/// Loads that are slow in both of two passes, or in at least one of them.
struct RepeatCount {
    std::size_t both = 0, either = 0;
    void count(bool now, bool then) {
        both += now && then ? 1 : 0;
        either += now || then ? 1 : 0;
    }
};

/// A deterministic set returns to the same state after some passes and goes on as before. A load that is fast the next
/// time was no miss, however slow it was. If a segment repeats itself, but for as many slow loads as `outlier_rate`
/// (share of hits) explains, they are removed. Else it is left unchanged. `pass_loads`: loads of one pass.
void remove_outliers(TraceSegment& segment, std::size_t pass_loads, double outlier_rate);

}  // namespace gputomo::deduce::cache
