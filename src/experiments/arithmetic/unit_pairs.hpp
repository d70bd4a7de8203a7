// Pairs of arithmetic operations that run in one loop: which operations there are and how many of each are mixed.
#pragma once

#include "experiments/experiment.hpp"
#include "measure/throughput/operations.hpp"
#include "measure/throughput/timed_chains.hpp"

#include <cstddef>
#include <vector>

namespace gputomo::experiments {

/// An operation whose throughput is known.
struct RatedOperation {
    TimedOperation operation;
    double cycles = 0;  ///< cycles of an SM for the operation of one warp
    int size = 1;       ///< machine instructions of one operation
};

struct RatedOperations {
    /// The operations that stand for the pipelines come first, because the names of their units are known.
    std::vector<RatedOperation> all;
    std::size_t of_pipelines = 0;
};

/// The operations whose throughput earlier experiments found.
[[nodiscard]] RatedOperations rated_operations(const Context& context);

/// A loop body in which both operations take equally long, as nearly as a body of some length allows.
[[nodiscard]] std::vector<LoopPart> balanced_loop(const RatedOperation& first, const RatedOperation& second);

/// Hands the loop of both to a device that compiles ahead.
void compile_pair_ahead(device::Device& device, const RatedOperation& first, const RatedOperation& second);

}  // namespace gputomo::experiments
