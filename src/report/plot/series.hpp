// The points of a trace's plot, as they are drawn.
#pragma once

#include "results/estimate.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace gputomo::report {

/// One y column against the x column of a trace's plot; the rows of one value where the plot is split.
struct Series {
    std::string name;                           ///< "latency"; of a split plot "level 2"
    const results::Trace::Column* x = nullptr;  ///< of the trace
    const results::Trace::Column* y = nullptr;
    const results::Trace::Column* shade = nullptr;  ///< of a map
    const results::Trace::Column* until = nullptr;  ///< of a timeline
    std::vector<std::size_t> points;  ///< rows to draw, in their order: finite, positive on a logarithmic axis
    bool thinned = false;             ///< of very many points only those are kept that would be seen
};

/// Those that have points. Of a series of very many, each pixel column keeps the smallest and the largest; in a map
/// each place keeps the largest shade, in a timeline the longest bar.
[[nodiscard]] std::vector<Series> series_of(const results::Trace& trace);

/// What an axis says behind the column's name: nothing for numbers of things.
[[nodiscard]] std::string shown_unit(std::string_view unit);

}  // namespace gputomo::report
