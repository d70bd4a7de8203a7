// Selects the points of a trace that a plot draws.
#pragma once

#include "results/trace.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace gputomo::report {

/// One y column against the x column. Where the plot is split by a third column, the rows of one of its values.
struct Series {
    std::string name;                           ///< "latency", or "level 2" in a split plot
    const results::Trace::Column* x = nullptr;  ///< a column of the trace, as the others
    const results::Trace::Column* y = nullptr;
    const results::Trace::Column* shade = nullptr;  ///< the colours of a map; otherwise null
    const results::Trace::Column* until = nullptr;  ///< the ends of a timeline's bars; otherwise null
    std::vector<std::size_t>
        points;            ///< rows to draw, in their order; all are finite, and positive on a logarithmic axis
    bool thinned = false;  ///< whether points that would be hidden behind others were dropped
};

/// Returns the series that have points. A long series keeps the smallest and the largest value of each pixel column. A
/// large map keeps the largest shade of each place, and a long timeline the longest bar.
[[nodiscard]] std::vector<Series> series_of(const results::Trace& trace);

/// The unit as an axis shows it behind the column's name; empty for counts and ids.
[[nodiscard]] std::string shown_unit(std::string_view unit);

}  // namespace gputomo::report
