// The rate of one operation in long loops on one SM, without the time of the loop's control.
#pragma once

#include "experiments/experiment.hpp"
#include "measure/throughput/operations.hpp"
#include "measure/throughput/timed_chains.hpp"

#include <memory>
#include <vector>

namespace gputomo::experiments {

struct LoopShape {
    int operations;  ///< of a thread in an iteration
    int chains;      ///< independent chains of a thread
};

/// One loop and its rate in operations per cycle with a number of warps.
struct LoopRate {
    LoopShape shape{};
    int warps = 0;
    double rate = 0;
};

class LoopRates {
public:
    LoopRates(Context& context, const TimedOperation& operation, Outcome& outcome);

    /// The best rate in operations per cycle: of few warps with many chains, or of many warps with one.
    double best();
    /// All loops that were measured.
    [[nodiscard]] results::Trace trace() const;

private:
    [[nodiscard]] int count(const LoopShape& shape) const;
    [[nodiscard]] std::unique_ptr<ChainLoop> make(const LoopShape& shape);
    LoopRate shorter(const LoopRate& whole, int operations);
    double without_control(const LoopRate& whole);

    Context& context_;
    const TimedOperation& operation_;
    Outcome& outcome_;
    int warp_size_, size_;
    std::vector<LoopRate> measured_;
};

/// Hands the loops of an operation that best() is sure to run to a device that compiles ahead. A shorter loop, which
/// separates operations from control, is among them for each shape; best() needs it for one shape only.
void compile_loops_ahead(const Context& context, const TimedOperation& operation);

}  // namespace gputomo::experiments
