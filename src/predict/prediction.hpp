// Throughput of a kernel against occupancy, the occupancy that it needs, what limits it, and what would change that.
#pragma once

#include "predict/warp.hpp"
#include "predict/worksheet.hpp"

#include <functional>
#include <string>
#include <vector>

namespace gputomo::predict {

/// One occupancy.
struct Point {
    int warps = 0;               ///< per SM
    double warps_per_cycle = 0;  ///< finished per SM: min(n / latency, 1 / bound) (Volkov 2016, 3.5)
    double contended_warps_per_cycle =
        0;  ///< the same with memory latency that grows with load (6.5); equal where that is not described
    double queued_warps_per_cycle =
        0;  ///< of blocks that wait for each other at every resource; of warps where their size is not given
    std::int64_t cache_lines = 0;  ///< of the first cache beside the blocks' shared memory; 0: not known
};

/// What if a resource or a latency were better? (Volkov 2016, 3.10)
struct Change {
    std::string what;
    double needed_warps = 0;
    double cycles_per_warp = 0;  ///< the throughput bound then
};

struct Prediction {
    std::string kernel, gpu;
    double latency = 0;       ///< lower bound on mean warp latency, cycles
    double bound = 0;         ///< upper bound on throughput: cycles per warp and SM
    double needed_warps = 0;  ///< latency / bound, warps per SM
    double needed_contended =
        0;              ///< the same with the memory latency at that throughput; infinite where it can't be reached
    int max_warps = 0;  ///< that an SM holds; 0 where unknown
    std::string limited_by;
    double bytes = 0;                 ///< of DRAM traffic per warp
    double gigabytes_per_second = 0;  ///< at the bound
    Worksheet worksheet;
    Work work;
    std::vector<Point> points;
    std::vector<Change> changes;
    std::vector<std::string> assumptions;
    Code code;
    std::vector<double> executions;   ///< by instruction
    std::vector<double> issue_times;  ///< by instruction, of a warp alone
};

/// Throughput at any occupancy, linear between the points, through the origin: warps per cycle and SM, queues included.
[[nodiscard]] double warps_per_cycle_at(const Prediction& prediction, double warps);

struct Choices {
    PathChoices path;
    AccessChoices access;
    int warps_of_block = 0;           ///< 0: not known
    std::int64_t dynamic_shared = 0;  ///< bytes of a block besides what the code declares
    /// Bytes of shared memory that each of so many blocks asks for, where the number of blocks is held by it; empty
    /// where not.
    std::function<std::int64_t(int blocks)> holding;
};

/// Throws InputError as path_of() and Costs do.
[[nodiscard]] Prediction predict(Code code, const machine::Machine& machine, const Choices& choices,
                                 std::string_view machine_origin);

}  // namespace gputomo::predict
