// Records which loads miss while a chase goes over the lines of one set, one more than the set has ways.
#pragma once

#include "deduce/cache/chase/probe.hpp"
#include "deduce/cache/traces/trace_segment.hpp"

#include <cstdint>

namespace gputomo::deduce::cache {

class SetRecorder {
public:
    /// `lines`: lines of one set, one more than its ways. `filler`: resident lines of other sets; all of them are
    /// loaded between two loads of one line, so that an upper level has evicted it. `sector`: bytes of a line that one
    /// miss fills.
    SetRecorder(const Probe& probe, const Offsets& lines, const Offsets& filler, std::uint64_t sector);

    /// Loads of each line in one access sequence, each at another word. 0: a sector has too few words for one load
    /// among the filler lines.
    [[nodiscard]] std::uint64_t visits() const { return visits_; }
    /// About `loads` loads of the set's lines in a new random order, at least two passes over it. Outliers that the
    /// set's periodicity shows are removed. `number`: of the runs before; it selects the kind of order.
    [[nodiscard]] PolicyRun record(std::uint64_t loads, std::size_t number);
    /// Share of hits that read as slow as misses, after what the runs so far showed.
    [[nodiscard]] double miss_like_outlier_rate() const;

private:
    [[nodiscard]] Offsets draw_order(bool in_rounds, std::size_t number) const;

    Probe probe_;
    Offsets lines_, filler_;
    std::uint64_t sector_;
    std::uint64_t fillers_per_line_ = 0;  ///< filler loads after each load of the set's lines
    std::uint64_t visits_ = 0;
    double outliers_ = 0, recorded_ = 0;  ///< loads of all runs
};

}  // namespace gputomo::deduce::cache
