// Thread-latency plots (Lashgar 2015, section 3): how long a block's accesses take, against threads, accesses a thread
// and pattern.
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

/// Which bytes the threads of a block ask for.
struct InFlightPattern {
    int share = 1;          ///< neighbours that ask for one line (Merger2 to Merger32 of the paper)
    int sectors = 1;        ///< of those, neighbours ask for this many sectors of the line in turn
    int lanes = kWarpSize;  ///< threads of each warp that take part
    bool shuffled = false;  ///< lines in random order
    bool one_line = false;  ///< all warps ask for the same lines
    int shared_bytes = 0;   ///< of shared memory that the block takes, and so from the L1 where both are one array
};

/// One point of a plot.
struct InFlightPoint {
    int threads = 0;
    double listed = 0;    ///< cycles as the listing measures them, harmonic mean of the runs (Lashgar 2015, section 4)
    double complete = 0;  ///< until the last warp has its data, of the fastest run: free of single slow accesses
};

/// Runs blocks over fresh lines of an array that the L2 holds, so that loads miss the SM's own caches and hit there.
class InFlightSurface {
public:
    /// Runs of a point: a few, and more where the two fastest do not agree.
    static constexpr int kRuns = 3, kMostRuns = 8;
    /// Where `in_memory`, the array is so large that nothing of it is in a cache when its turn comes.
    InFlightSurface(device::Device& device, std::int64_t l2_bytes, bool in_memory, Outcome& outcome);

    /// Nothing where registers don't leave room for that many threads, the array is too small, or the driver's compiler
    /// does not leave that many accesses next to each other (a warning says so; a single access throws CodeMismatch).
    [[nodiscard]] std::optional<InFlightPoint> measure(InFlightShape shape, const InFlightPattern& pattern,
                                                       int threads);
    /// A load of one warp that hits in the cache nearest to it, as complete; of `access`.
    [[nodiscard]] double nearest_hit(InFlightAccess access) { return of_one_place({.access = access}); }
    /// What measuring takes, as complete, of a warp that loads nothing.
    [[nodiscard]] double of_nothing() { return of_one_place({.count = 0}); }
    [[nodiscard]] int most_threads(InFlightShape shape) { return kernel(shape).most_threads(); }

private:
    double of_one_place(InFlightShape shape);
    InFlight& kernel(InFlightShape shape);
    /// Null where kernel() throws because of more than one access.
    InFlight* kernel_if_compiled(InFlightShape shape);
    void write_offsets(InFlightShape shape, const InFlightPattern& pattern);
    /// One pass over the array with accesses of this kind.
    void pass(InFlightAccess access);
    /// The next part of the array that is in no cache of the SM.
    std::int64_t take(std::int64_t bytes);

    device::Device& device_;
    Outcome& outcome_;
    std::int64_t size_;
    device::Buffer array_;  ///< and, behind `size_`, lines for the first pass
    device::Buffer offsets_;
    std::map<std::tuple<InFlightAccess, int, std::uint32_t>, std::unique_ptr<InFlight>> kernels_;
    std::set<std::pair<InFlightAccess, int>> refused_;
    std::string written_;  ///< what offsets_ holds
    std::int64_t cursor_ = 0;
    std::int64_t loaded_ = 0;  ///< lines' bytes loaded since the cursor was at the start
};

/// Unbiased variance of each value and its two neighbours (Lashgar 2015, section 3.2); 0 at both ends.
[[nodiscard]] std::vector<double> neighbour_variance(const std::vector<double>& values);

}  // namespace gputomo::experiments
