// Latency bound of one warp: its instructions issued in order, with nothing but latencies in the way (Volkov
// 2016, 3.7).
#pragma once

#include "predict/costs.hpp"
#include "predict/path.hpp"

#include <vector>

namespace gputomo::predict {

/// What a warp uses; per warp, over all its instructions.
struct Work {
    double single_issues = 0;
    double dual_issues = 0;
    double reissues = 0;
    double core_issues = 0;  ///< issues with at least one instruction of the CUDA cores
    [[nodiscard]] double issues() const { return single_issues + dual_issues + reissues; }

    Work& operator+=(const Work& other);
    friend Work operator-(Work a, const Work& b);
    friend Work operator*(double factor, Work work);
};

/// What a warp meets.
struct WarpConditions {
    double memory_latency = 0;
    /// Warps that it waits for at a barrier: the slower of itself and of what all of them use of a resource since the
    /// last one. 0: not known, none.
    int warps_of_block = 0;
};

struct WarpTiming {
    double latency = 0;  ///< cycles from the first issue of a warp to the first of the warp that takes its place
    Work work;
    std::vector<double> issue_times;  ///< by instruction, when it was first issued; negative: never
};

/// The longest path through the program execution graph (Volkov 2016, Fig. 3.5), found by issuing in order. Loops of
/// many turns are followed until their period is known, then skipped over. Latencies are means.
[[nodiscard]] WarpTiming warp_timing(const Code& code, const Path& path, Costs& costs,
                                     const WarpConditions& conditions);

/// A warp's latency where those of single loads spread (Cost::spread), each as it comes: a warp waits for the last of
/// those that it has under way together.
struct SpreadLatency {
    double mean = 0;
    double deviation = 0;  ///< standard deviation, cycles
};
[[nodiscard]] SpreadLatency spread_latency(const Code& code, const Path& path, Costs& costs,
                                           const WarpConditions& conditions);

}  // namespace gputomo::predict
