// Latency of one warp's loads from shared memory when its threads' words lie a stride apart.
#pragma once

#include "experiments/experiment.hpp"
#include "experiments/shared_kernel.hpp"

#include <vector>

namespace gputomo::experiments {

/// Latency of a load by a warp whose thread i reads the word at offsets[i] (bytes), again and again.
[[nodiscard]] double pattern_latency(SharedChase& chase, const std::vector<std::uint32_t>& offsets);

/// Latency against stride, 0 to 64 words (Mei 2014, Listing 1).
[[nodiscard]] deduce::Trace stride_trace(Context& context, SharedChase& chase);

}  // namespace gputomo::experiments
