// Finds the number of warp schedulers of an SM from how the time of equal warps grows with their number.
#pragma once

#include <optional>
#include <span>
#include <vector>

namespace gputomo::deduce {

/// A measurement with one number of warps.
struct SchedulerSample {
    double warps = 0;   ///< on the SM, all with the same instructions
    double cycles = 0;  ///< from the start to the end of the last warp, per instruction of one warp
};

struct SchedulerFit {
    int schedulers = 1;
    double alone = 0;         ///< cycles per instruction of a warp that no other warp delays
    double issue_cycles = 0;  ///< cycles for which an instruction occupies its scheduler
    double overhead = 0;      ///< further cycles per instruction of a warp whose scheduler is saturated
    double error = 0;         ///< root mean square of ln(measured / predicted)
};

/// Warps are distributed evenly, so the fullest of S schedulers has ceil(w / S) of w warps. To issue one instruction of
/// each of them, it takes max(`alone`, `overhead` + ceil(w / S) `issue_cycles`).
/// Returns one fit for each number of schedulers up to `most`, the best first; none for fewer than two samples.
[[nodiscard]] std::vector<SchedulerFit> scheduler_fits(std::span<const SchedulerSample> samples, int most);

}  // namespace gputomo::deduce
