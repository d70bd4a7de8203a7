// Repeats measurements during which the SM clock moved or another process used the GPU.
#pragma once

#include "experiments/experiment.hpp"

namespace gputomo::experiments {

/// Runs `measure`, and once more if the clock moved or another process used the GPU meanwhile. If that happens again,
/// it adds a warning. Devices that do not report clock and processes are trusted.
[[nodiscard]] Outcome watched(Context& context, Outcome (*measure)(Context&));

}  // namespace gputomo::experiments
