// Performance models in expressions.
#pragma once

#include "reproduce/expression/functions.hpp"

namespace gputomo::reproduce {

/// model(ID, PARAMETERS, ALPHA, WARPS[, TERM]): instructions per cycle and SM that the model of `gputomo list models`
/// gives, or a quantity that it passes through. PARAMETERS is a list: memory latency (cycles), loads per cycle and SM,
/// arithmetic latency, instructions and issues per cycle and SM, and, for models of bandwidth, SMs, clock (GHz) and pin
/// bandwidth (GB/s), then transactions of a load, 1 if not given, and then contention: the latency of an idle memory,
/// and slope (cycles) and limit (GB/s) of each of its terms.
[[nodiscard]] Value model_value(std::span<const Value> arguments);
/// model_needed(ID, PARAMETERS, ALPHA): warps per SM that hide latency as the paper of the model says it.
[[nodiscard]] Value model_needed_warps(std::span<const Value> arguments);

}  // namespace gputomo::reproduce
