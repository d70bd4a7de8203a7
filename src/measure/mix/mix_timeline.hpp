// What the warps of a mix did in a window of time, from the records that they stored.
#pragma once

#include "measure/mix/mix_kernel.hpp"

#include <limits>
#include <vector>

namespace gputomo::measure {

/// All SMs together.
struct MixTimeline {
    bool balanced = true;                                      ///< every SM had the same number of warps
    bool resident = true;                                      ///< on every SM the last warp arrived before the window
    bool lasted = true;                                        ///< no warp ran out of lines before the window was over
    double skew = 0;                                           ///< most cycles from an SM's origin to a start
    double iterations_per_cycle = 0;                           ///< sum over SMs
    double iterations = 0;                                     ///< in all windows
    double uncertain = 0;                                      ///< iterations of which it is unknown when they ran
    double slowest = std::numeric_limits<double>::infinity();  ///< iterations per cycle of a warp
    double shortest_iteration = std::numeric_limits<double>::infinity();  ///< cycles
};

/// The window begins `settle` cycles after each SM's origin and lasts `window` cycles.
[[nodiscard]] MixTimeline mix_timeline_of(const std::vector<MixRecord>& records, int warps_per_sm, double settle,
                                          double window);

}  // namespace gputomo::measure
