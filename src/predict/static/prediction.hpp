// Predicts a kernel's throughput against occupancy, the occupancy that it needs, what limits it, and which changes
// help.
#pragma once

#include "predict/static/warp_schedule.hpp"
#include "predict/static/worksheet.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace gputomo::predict {

/// Predicted throughput at one occupancy.
struct Point {
    int warps = 0;               ///< per SM
    double warps_per_cycle = 0;  ///< finished per SM: min(n / latency, 1 / bound) (Volkov 2016, 3.5)
    /// Throughput with a memory latency that grows with load (6.5); warps_per_cycle if none is described.
    double contended_warps_per_cycle = 0;
    /// Throughput if blocks queue at every resource; single warps queue if the size of blocks is unknown.
    double queued_warps_per_cycle = 0;
    std::int64_t cache_lines = 0;  ///< of the first-level cache beside the blocks' shared memory; 0: unknown
};

/// The effect of a better resource or latency (Volkov 2016, 3.10).
struct Change {
    std::string what;
    double needed_warps = 0;
    double cycles_per_warp = 0;  ///< the throughput bound after the change
};

struct Prediction {
    std::string kernel, gpu;
    double latency = 0;       ///< lower bound on mean warp latency, cycles
    double bound = 0;         ///< upper bound on throughput: cycles per warp and SM
    double needed_warps = 0;  ///< latency / bound, warps per SM
    /// Needed warps with the memory latency under that load; infinite if memory can't carry it.
    double needed_contended = 0;
    int max_warps = 0;  ///< resident warps per SM; 0 if unknown
    std::string limited_by;
    double bytes = 0;                 ///< DRAM traffic per warp
    double gigabytes_per_second = 0;  ///< DRAM traffic at the throughput bound
    Worksheet worksheet;
    Work work;
    std::vector<Point> points;
    std::vector<Change> changes;
    std::vector<std::string> assumptions;
    Code code;
    std::vector<double> executions;   ///< by instruction
    std::vector<double> issue_times;  ///< by instruction, cycles in a lone warp
};

/// Throughput with queues in warps per cycle and SM, interpolated linearly between the points and through the origin.
[[nodiscard]] double warps_per_cycle_at(const Prediction& prediction, double warps);

struct Choices {
    PathChoices path;
    AccessChoices access;
    int warps_of_block = 0;           ///< 0: unknown
    std::int64_t dynamic_shared = 0;  ///< bytes per block, on top of what the code declares
    /// Bytes of shared memory that each block asks for in order to limit an SM to `blocks` blocks. Empty if shared
    /// memory does not control the occupancy.
    std::function<std::int64_t(int blocks)> holding;
};

/// Throws InputError as path_of() and Costs do, and for choices about lines without an access.
[[nodiscard]] Prediction predict(Code code, const machine::Machine& machine, const Choices& choices,
                                 std::string_view machine_origin);

}  // namespace gputomo::predict
