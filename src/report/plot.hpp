// A trace drawn as an inline SVG picture.
#pragma once

#include "deduce/estimate.hpp"

#include <string>

namespace gputomo::report {

/// Axes, ticks and one series of points per y column; empty where the trace has no plot or no finite points.
[[nodiscard]] std::string svg(const deduce::Trace& trace);

}  // namespace gputomo::report
