// A measured series that a scan keeps as evidence for its estimates, and how a report draws it.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace gputomo::results {

/// Named columns of equal length. First name the columns, then add the samples row by row:
///     trace.columns = {{"shared", "bytes"}, {"lines", "count"}};
///     for (const auto& sample : samples) trace.add_row(sample.bytes, sample.lines);
struct Trace {
    std::string name;        ///< unique within a scan: "caches/near"
    std::string experiment;  ///< id of the experiment that measured it
    struct Column {
        std::string name;
        std::string unit;
        std::vector<double> values = {};
    };
    std::vector<Column> columns;
    /// How a report draws the trace. `x` and `y` name columns; an empty `x` means that the trace has no plot. Points
    /// joined by lines are the default; `split`, `shade` and `until` name columns that select another form.
    struct Plot {
        std::string title;
        std::string x;
        std::vector<std::string> y;
        bool log_x = false;
        bool log_y = false;
        std::string split = {};  ///< draws one line for each value of this column
        std::string shade = {};  ///< draws a heat map of squares at (x, y), coloured by this column
        std::string until = {};  ///< draws a timeline: bars from x to this column, in the row y
    } plot = {};

    /// Appends one number to each column, in the order of `columns`. A missing sample is NaN.
    /// Throws std::logic_error naming the trace when the count of numbers is not the count of columns.
    void add_row(std::span<const double> row);

    /// This form takes numbers of any arithmetic types: trace.add_row(warps, rate).
    template <class... Numbers>
    requires(sizeof...(Numbers) > 0 && (std::is_arithmetic_v<Numbers> && ...)) void add_row(Numbers... numbers) {
        const double row[] = {static_cast<double>(numbers)...};
        add_row(std::span<const double>(row));
    }

    /// The column of this name; null where there is none.
    [[nodiscard]] const Column* column(std::string_view column_name) const;
};

}  // namespace gputomo::results
