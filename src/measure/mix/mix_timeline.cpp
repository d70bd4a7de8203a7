#include "measure/mix/mix_timeline.hpp"

#include "measure/kernel/clock_difference.hpp"

#include <algorithm>
#include <map>

namespace gputomo::measure {
namespace {

/// What one warp did in the window.
struct Progress {
    double iterations = 0;
    double iteration_cycles = 0;  ///< of one iteration, from mark to mark
    /// The iterations at both ends of the window ended before any other warp left, so they ran under the conditions of
    /// the window.
    bool known = true;
};

/// Both marks are the first iteration ends after the ends of the window. These two iterations count by the share of
/// their time that lies before the end of the window. If other warps had left before it ended, that share is unknown:
/// a warp that waits while others work becomes fast when they have gone.
Progress progress_of(const MixRecord& warp, double settle, double window, double first_exit) {
    const auto since = [&](std::uint32_t time) { return cycles_between(warp.origin, time); };
    const double from = settle, to = settle + window;
    Progress progress{.iteration_cycles = cycles_between(warp.settled.time, warp.counted.time) /
                                          (warp.counted.iterations - warp.settled.iterations)};
    const auto done_at = [&](const MixRecord::Mark& mark, double time) {
        const double end = since(mark.time), begin = since(mark.begin);
        if (end > first_exit) progress.known = false;
        const double missing = end > first_exit ? 0.5 : (end - time) / (end - begin);
        return mark.iterations - std::clamp(missing, 0.0, 1.0);
    };
    const bool spans = since(warp.settled.time) >= to;  // one iteration lasted for the whole window
    progress.iterations = done_at(spans ? warp.settled : warp.counted, to) - done_at(warp.settled, from);
    return progress;
}

void add_sm(MixTimeline& line, const std::vector<MixRecord>& warps, double settle, double window) {
    double last_arrival = 0, first_exit = std::numeric_limits<double>::infinity();
    for (const auto& warp : warps) {
        last_arrival = std::max(last_arrival, cycles_between(warps.front().origin, warp.arrival));
        first_exit = std::min(first_exit, cycles_between(warps.front().origin, warp.ended.time));
        line.lasted = line.lasted && cycles_between(warp.origin, warp.counted.time) >= settle + window;
    }
    line.resident = line.resident && last_arrival < settle;
    for (const auto& warp : warps) {
        const auto progress = progress_of(warp, settle, window, first_exit);
        if (!progress.known)
            line.uncertain += 1;
        else
            line.skew = std::max(line.skew, cycles_between(warp.origin, warp.start));
        line.shortest_iteration = std::min(line.shortest_iteration, progress.iteration_cycles);
        line.iterations += progress.iterations;
        line.iterations_per_cycle += progress.iterations / window;
        line.slowest = std::min(line.slowest, progress.iterations / window);
    }
}

}  // namespace

MixTimeline mix_timeline_of(const std::vector<MixRecord>& records, int warps_per_sm, double settle, double window) {
    std::map<std::uint32_t, std::vector<MixRecord>> by_sm;
    for (const auto& record : records) by_sm[record.sm].push_back(record);
    MixTimeline line;
    for (const auto& [sm, warps] : by_sm) {
        (void)sm;
        line.balanced = line.balanced && std::ssize(warps) == warps_per_sm;
        add_sm(line, warps, settle, window);
    }
    return line;
}

}  // namespace gputomo::measure
