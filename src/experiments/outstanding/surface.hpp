// Points of thread-latency plots (Lashgar 2015, section 3): how long the accesses of one block take.
#pragma once

#include "deduce/in_flight/outstanding_model.hpp"
#include "experiments/experiment.hpp"
#include "measure/in_flight/in_flight.hpp"
#include "units/warp.hpp"

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace gputomo::experiments {

/// Which bytes the threads of a block access.
struct InFlightPattern {
    int share = 1;          ///< neighbouring threads that access one line (Merger2 to Merger32 of the paper)
    int sectors = 1;        ///< sectors of a line that these neighbours access in turn
    int lanes = 32;         ///< threads of each warp that take part
    bool shuffled = false;  ///< lines in random order
    bool one_line = false;  ///< all warps access the same lines
    int shared_bytes = 0;   ///< shared memory of the block; a unified L1 shrinks by as much
};

/// One point of a plot.
struct InFlightPoint {
    int threads = 0;
    double listed = 0;    ///< cycles as Listing 1 measures them, harmonic mean of the runs (Lashgar 2015, section 4)
    double complete = 0;  ///< cycles until the last warp has its data, in the fastest run, which has no outlier
};

/// Runs blocks over fresh lines of an array that the L2 holds, so that loads miss the SM's own caches and hit there.
class InFlightSurface {
public:
    /// Runs of each point, and the most if the two fastest differ. More runs cost time; fewer leave outliers in.
    static constexpr int kRuns = 3, kMostRuns = 8;
    /// With `in_memory` the array is too large for the L2 of `l2_bytes`, so that every load goes to memory.
    /// Machine-code checks and warnings go to `outcome`.
    InFlightSurface(device::Device& device, std::int64_t l2_bytes, bool in_memory, Outcome& outcome);

    /// Returns nothing if registers do not suffice for the threads, or if the array is too small. It also returns
    /// nothing, with a warning, if the driver's compiler puts other instructions between the accesses. Throws
    /// CodeMismatch if the compiler does so to one access.
    [[nodiscard]] std::optional<InFlightPoint> measure(InFlightShape shape, const InFlightPattern& pattern,
                                                       int threads);
    /// Cycles until one warp has the data of an access that hits in the nearest cache that `access` may use.
    [[nodiscard]] double nearest_hit(InFlightAccess access) { return of_one_place({.access = access}); }
    /// Cycles that the measurement itself takes: those of a warp that loads nothing.
    [[nodiscard]] double of_nothing() { return of_one_place({.count = 0}); }
    [[nodiscard]] int most_threads(InFlightShape shape) { return kernel(shape).most_threads(); }

private:
    double of_one_place(InFlightShape shape);
    InFlight& kernel(InFlightShape shape);
    /// Null if the compiler separates the accesses, of which there are several.
    InFlight* kernel_if_compiled(InFlightShape shape);
    void write_offsets(InFlightShape shape, const InFlightPattern& pattern);
    /// Accesses each line of the array once.
    void pass(InFlightAccess access);
    /// Offset of the next `bytes` of the array that no cache of the SM holds.
    std::int64_t take(std::int64_t bytes);

    device::Device& device_;
    Outcome& outcome_;
    std::int64_t size_;
    device::Buffer array_;  ///< `size_` bytes, then the lines of each block's first pass
    device::Buffer offsets_;
    std::map<std::tuple<InFlightAccess, int, std::uint32_t>, std::unique_ptr<InFlight>> kernels_;
    std::set<std::pair<InFlightAccess, int>> refused_;
    std::string written_;  ///< what offsets_ holds
    std::int64_t cursor_ = 0;
    std::int64_t loaded_ = 0;  ///< bytes of lines loaded since the cursor was at the start
};

/// Unbiased variance of each value and its two neighbours (Lashgar 2015, section 3.2); 0 at both ends.
[[nodiscard]] std::vector<double> neighbour_variance(const std::vector<double>& values);

}  // namespace gputomo::experiments
