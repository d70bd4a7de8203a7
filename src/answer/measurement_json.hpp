// Shows what was measured as JSON.
#pragma once

#include "answer/measure.hpp"

#include <nlohmann/json_fwd.hpp>

namespace gputomo::answer {

/// `launch_cycles`: what a profiler counts for an empty kernel, where that is known.
[[nodiscard]] nlohmann::ordered_json measurement_json(const Measurement& measured, std::optional<double> launch_cycles);
[[nodiscard]] nlohmann::ordered_json overhead_json(const MeasuredOverhead& overhead);

/// The inverse of measurement_json(), of what it wrote itself. It keeps of the GPU's state what held the clocks down.
[[nodiscard]] Measurement measurement_from(const nlohmann::ordered_json& json);
[[nodiscard]] MeasuredOverhead overhead_from(const nlohmann::ordered_json& json);

}  // namespace gputomo::answer
