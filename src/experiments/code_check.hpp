// Did the driver compile what was written? Counts of machine instructions between clock reads.
#pragma once

#include "experiments/arithmetic_kernel.hpp"
#include "experiments/experiment.hpp"

namespace gputomo::experiments {

/// Compares the machine code of `chain` with what it should be and notes the result in `outcome`; a warning says which
/// estimates are withheld when it is wrong. True where the code is right, or where the device has none to look at.
[[nodiscard]] bool check_chain(const DoubledChain& chain, const TimedOperation& operation, Outcome& outcome);

}  // namespace gputomo::experiments
