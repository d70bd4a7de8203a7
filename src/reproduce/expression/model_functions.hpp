// Functions that ask a performance model.
#pragma once

#include "reproduce/expression/functions.hpp"

namespace gputomo::reproduce {

/// model(ID, PARAMETERS, ALPHA, WARPS[, TERM]): instructions per cycle and SM that the model ID estimates at WARPS per
/// SM. With TERM, a quantity that the model computes on the way. `gputomo list models` has the ids. PARAMETERS is a
/// list of numbers:
/// 1. memory latency (cycles) and loads per cycle and SM;
/// 2. arithmetic latency (cycles), arithmetic instructions per cycle and SM, issues per cycle and SM;
/// 3. for models of bandwidth also SMs, clock (GHz) and pin bandwidth (GB/s);
/// 4. optionally then transactions per load (default: 1);
/// 5. optionally then contention: the latency of an idle memory, and slope (cycles) and limit (GB/s) of each term.
[[nodiscard]] Value model_value(std::span<const Value> arguments);
/// model_needed(ID, PARAMETERS, ALPHA): warps per SM that hide latency by the formula of the model's paper.
[[nodiscard]] Value model_needed_warps(std::span<const Value> arguments);

}  // namespace gputomo::reproduce
