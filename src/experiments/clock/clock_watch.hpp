// The rule that a sample during which the SM clock moved, or another process used the GPU, is measured again.
#pragma once

#include "experiments/experiment.hpp"

namespace gputomo::experiments {

/// Runs `measure`; once more when the clock moved or another process was there meanwhile, and with a warning when it
/// happened again. Devices that cannot tell are taken at their word.
[[nodiscard]] Outcome watched(Context& context, Outcome (*measure)(Context&));

}  // namespace gputomo::experiments
