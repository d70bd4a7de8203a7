// Which loads of a set's lines missed, as they were recorded: what policies are judged by.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gputomo::deduce::cache {

/// Loads recorded without a gap.
struct TraceSegment {
    std::vector<std::uint32_t> lines;  ///< by load: its line, 0 to the number of ways
    std::vector<bool> missed;          ///< by load: it is slow
    std::vector<bool> outlier;         ///< by load: it is slow, but no miss takes that long
    bool periodic = false;             ///< the set returns to the same states, so that both halves show the same
    std::size_t periodic_from = 0;     ///< if `periodic`: first load of the periodic part, which is free of outliers
};

/// All segments recorded while one access sequence was repeated.
struct PolicyRun {
    std::vector<TraceSegment> segments;
    std::size_t pass_loads = 0;  ///< loads of the set's lines in one pass over the sequence
};

}  // namespace gputomo::deduce::cache
