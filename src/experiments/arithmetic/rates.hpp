// Rates of operations and lanes of units, as estimates.
#pragma once

#include "experiments/experiment.hpp"
#include "measure/throughput/operations.hpp"
#include "results/estimates.hpp"

namespace gputomo::experiments {

/// Threads of a warp, as the driver reports them.
[[nodiscard]] int warp_size_of(const device::Device& device);

/// Machine instructions of one operation: from the machine code, else from the latency, else from its row.
[[nodiscard]] int size_of(const Findings& findings, const TimedOperation& operation);

/// A measured rate falls short of the truth by the loop's control and by ramps at both ends, and exceeds it by a clock
/// read at most.
[[nodiscard]] results::Estimate rate_estimate(std::string path, double rate, const Evidence& evidence);

/// Lanes are a whole number and divide evenly among an SM's schedulers. The result is that whole number allowed by the
/// rate which can be halved most often, or the rate itself if it allows none.
[[nodiscard]] double whole_lanes(double rate);

}  // namespace gputomo::experiments
