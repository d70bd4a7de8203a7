// A trace's points as they are drawn, and drawn as an inline SVG picture.
#pragma once

#include "deduce/estimate.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace gputomo::report {

/// One y column against the x column of a trace's plot.
struct Series {
    const deduce::Trace::Column* x = nullptr;  ///< of the trace
    const deduce::Trace::Column* y = nullptr;
    std::vector<std::size_t> points;           ///< rows to draw, in their order: finite, positive on a logarithmic axis
    bool thinned = false;                      ///< of very many points in each pixel column only the smallest and the largest are kept
};
/// Those that have points.
[[nodiscard]] std::vector<Series> series_of(const deduce::Trace& trace);

/// Axes, ticks and one series of points per y column; empty where the trace has no plot or no finite points.
[[nodiscard]] std::string svg(const deduce::Trace& trace);

}  // namespace gputomo::report
