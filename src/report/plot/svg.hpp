// A trace drawn as an inline SVG picture.
#pragma once

#include "results/estimate.hpp"

#include <string>
#include <vector>

namespace gputomo::report {

/// Axes, ticks and the trace's series: points, squares of a map, bars of a timeline, or a line for each of the names in
/// `lines`; empty where the trace has no plot or no finite points.
[[nodiscard]] std::string svg(const results::Trace& trace, const std::vector<std::string>& lines = {});

}  // namespace gputomo::report
