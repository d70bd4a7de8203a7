// A trace drawn as an inline SVG picture.
#pragma once

#include "deduce/estimate.hpp"

#include <string>

namespace gputomo::report {

/// Axes, ticks and the trace's series: points, squares of a map, or bars of a timeline; empty where the trace has no plot or no finite points.
[[nodiscard]] std::string svg(const deduce::Trace& trace);

}  // namespace gputomo::report
