// How many schedulers an SM has, from how the time of equal warps grows with their number.
#pragma once

#include <optional>
#include <span>
#include <vector>

namespace gputomo::deduce {

/// One number of warps: cycles per instruction of a warp until the last one was done.
struct SchedulerSample {
    double warps = 0;
    double cycles = 0;
};

struct SchedulerFit {
    int schedulers = 1;
    double alone = 0;         ///< cycles per instruction of a warp whose scheduler has few others
    double issue_cycles = 0;  ///< cycles that an instruction takes of its scheduler
    double overhead = 0;      ///< cycles besides, where it is full
    double error = 0;         ///< root of the mean square of ln(measured / explained)
};

/// Warps are dealt out evenly: the fullest of S schedulers has ceil(w / S), and takes `overhead` and `slot` for an
/// instruction of each, but at least `alone`. All numbers of schedulers up to `most`, the best first. Empty for fewer
/// than two samples.
[[nodiscard]] std::vector<SchedulerFit> scheduler_fits(std::span<const SchedulerSample> samples, int most);

}  // namespace gputomo::deduce
