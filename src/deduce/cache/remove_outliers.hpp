// What a set repeats with each lap of a tour, which accidents don't.
#pragma once

#include "deduce/cache/eviction_trace.hpp"

#include <cstddef>

namespace gputomo::deduce::cache {

/// Laps after which a set is expected to repeat itself, at most.
constexpr std::size_t kMaxPeriod = 12;

/// Slow loads of one lap and of another.
struct RepeatCount {
    std::size_t both = 0, either = 0;
    void count(bool now, bool then) {
        both += now && then ? 1 : 0;
        either += now || then ? 1 : 0;
    }
};

/// A set that leaves nothing to chance comes back to the same state after some laps and goes on as before: what is fast
/// then was no miss the other time, however slow it read. Where an episode of tours of `tour` loads repeats itself but
/// for as many slow loads as `accidents` (share of hits) explain, those are taken out. Otherwise it stays as it is.
void remove_outliers(TraceSegment& segment, std::size_t sequence, double outliers);

}  // namespace gputomo::deduce::cache
