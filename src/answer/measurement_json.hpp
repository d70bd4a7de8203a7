// Shows what was measured as JSON.
#pragma once

#include "answer/measure.hpp"

#include <nlohmann/json_fwd.hpp>

namespace gputomo::answer {

/// `launch_cycles`: what a profiler counts for an empty kernel, where that is known.
[[nodiscard]] nlohmann::ordered_json measurement_json(const Measurement& measured, std::optional<double> launch_cycles);
[[nodiscard]] nlohmann::ordered_json overhead_json(const MeasuredOverhead& overhead);

}  // namespace gputomo::answer
