// Selects the points of a trace that a plot draws.
#pragma once

#include "report/plot/axis.hpp"
#include "results/trace.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace gputomo::report {

/// One y column against the x column. Where the plot is split by a third column, the rows of one of its values.
struct Series {
    std::string name;                           ///< "latency", or in a split plot "level 2" or the value's own name
    const results::Trace::Column* x = nullptr;  ///< a column of the trace, as the others
    const results::Trace::Column* y = nullptr;
    const results::Trace::Column* shade = nullptr;  ///< the colours of a map; otherwise null
    const results::Trace::Column* until = nullptr;  ///< the ends of a timeline's bars; otherwise null
    std::vector<std::size_t>
        points;            ///< rows to draw, in their order; all are finite, and positive on a logarithmic axis
    bool thinned = false;  ///< whether points that would be hidden behind others were dropped
};

/// Returns the series that have points and the unit of the first one. A long series keeps the smallest and the largest
/// value of each pixel column. A large map keeps the largest shade of each place, and a long timeline the longest bar.
[[nodiscard]] std::vector<Series> series_of(const results::Trace& trace);

/// What a split plot calls the rows with this value: "1 constant" in the unit "0 global, 1 constant" names 1, and a
/// column `level` without such names gives "level 1".
[[nodiscard]] std::string name_of_value(const results::Trace::Column& column, double value);

/// The title of an axis: the column's name in words, and its unit where the name and the ticks do not say it.
[[nodiscard]] std::string axis_title(const results::Trace::Column& column);

/// The unit where an axis has to name it: empty for counts, names, and sizes, whose ticks have units.
[[nodiscard]] std::string shown_unit(const results::Trace::Column& column);

/// Which ticks are round for the column: those of sizes in bytes, of counts, or any.
[[nodiscard]] Ticks ticks_of(const results::Trace::Column& column);

/// A number of the column in words: "64 KiB", "32 cycles", "16".
[[nodiscard]] std::string amount(double value, const results::Trace::Column& column);

/// The text of a tick: as short as possible, and without a unit unless that is a size in bytes.
[[nodiscard]] std::string tick_text(double value, Ticks ticks);

}  // namespace gputomo::report
