// Draws a trace as an inline SVG picture.
#pragma once

#include "report/plot/mark.hpp"
#include "results/trace.hpp"

#include <string>
#include <vector>

namespace gputomo::report {

/// Draws axes, ticks and the series: points, squares of a map, bars of a timeline, and lines for the series named in
/// `lines`. A mark is drawn where its value lies within the axes. Empty where the trace has no plot or no finite
/// points.
[[nodiscard]] std::string svg(const results::Trace& trace, const std::vector<std::string>& lines = {},
                              const std::vector<Mark>& marks = {});

}  // namespace gputomo::report
