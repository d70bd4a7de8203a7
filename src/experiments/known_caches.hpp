// What is known of the caches before global memory when an experiment starts.
#pragma once

#include "experiments/experiment.hpp"

namespace gputomo::experiments {

/// Bytes of the largest cache on the way to global memory: the larger of what the driver says and of what was found. Of a size left open, the most it can
/// be; 0 where neither says anything.
[[nodiscard]] std::int64_t largest_cache(const Context& context);

}  // namespace gputomo::experiments
