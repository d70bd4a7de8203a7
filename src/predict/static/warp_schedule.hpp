// Latency bound of one warp: its instructions issue in order and wait for nothing but latencies (Volkov 2016, 3.7).
#pragma once

#include "predict/static/costs.hpp"
#include "predict/static/path.hpp"

#include <vector>

namespace gputomo::predict {

/// Issue slots that one warp takes, over all its instructions.
struct Work {
    double single_issues = 0;
    double dual_issues = 0;
    double reissues = 0;
    double core_issues = 0;  ///< issue slots with at least one instruction for the CUDA cores
    [[nodiscard]] double issues() const { return single_issues + dual_issues + reissues; }

    Work& operator+=(const Work& other);
    friend Work operator-(Work a, const Work& b);
    friend Work operator*(double factor, Work work);
};

/// The conditions under which a warp runs.
struct WarpConditions {
    double memory_latency = 0;  ///< cycles
    /// Warps that it waits for at a barrier. All of them queue at the resources since the barrier before. 0: unknown,
    /// and it waits for none.
    int warps_of_block = 0;
};

struct WarpTiming {
    double latency = 0;  ///< cycles from a warp's first issue to the first issue of the warp that replaces it
    Work work;
    std::vector<double> issue_times;  ///< by instruction, cycle of its first issue; negative: never issued
};

/// The longest path through the program execution graph (Volkov 2016, Fig. 3.5), found by issuing in order. Long loops
/// are simulated until their period is known and then extrapolated. Latencies are means.
[[nodiscard]] WarpTiming warp_timing(const Code& code, const Path& path, Costs& costs,
                                     const WarpConditions& conditions);

/// The latency of a warp if the latencies of single loads vary (Cost::spread). It waits for the slowest of the loads
/// that are in flight together.
struct SpreadLatency {
    double mean = 0;
    double deviation = 0;  ///< standard deviation, cycles
};
[[nodiscard]] SpreadLatency spread_latency(const Code& code, const Path& path, Costs& costs,
                                           const WarpConditions& conditions);

}  // namespace gputomo::predict
