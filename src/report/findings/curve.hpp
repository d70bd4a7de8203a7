// A curve of a trace, and its shape in words.
#pragma once

#include "results/trace.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gputomo::report {

/// Share of the highest rate from which on a curve counts as there (Volkov 2016, 4.3). A larger one would call the
/// noise of a flat curve its knee.
inline constexpr double kNearlyAll = 0.9;

/// One column over another, by rising x. Samples that are missing are left out.
class Curve {
public:
    /// The rows with `value` in the column `split`, or all rows where `split` is empty. A column that the trace lacks
    /// leaves the curve empty.
    Curve(const results::Trace& trace, std::string_view x, std::string_view y, std::string_view split = {},
          double value = 0);
    [[nodiscard]] bool empty() const { return points_.empty(); }
    [[nodiscard]] std::pair<double, double> first() const { return points_.front(); }
    [[nodiscard]] std::pair<double, double> last() const { return points_.back(); }
    [[nodiscard]] std::pair<double, double> highest() const;
    [[nodiscard]] std::pair<double, double> lowest() const;
    /// Where the curve first reaches `y`, between two samples by proportion.
    [[nodiscard]] std::optional<double> reaches(double y) const;
    /// The first sample of at least `y`.
    [[nodiscard]] std::optional<double> sample_from(double y) const;
    /// The last sample before the curve first reaches `y`.
    [[nodiscard]] std::optional<double> last_below(double y) const;
    [[nodiscard]] double mean() const;

    [[nodiscard]] const results::Trace::Column& x() const { return *x_; }
    [[nodiscard]] const results::Trace::Column& y() const { return *y_; }

private:
    const results::Trace::Column* x_;
    const results::Trace::Column* y_;
    std::vector<std::pair<double, double>> points_;
};

/// The different values of a column, by rising value.
[[nodiscard]] std::vector<double> values_of(const results::Trace& trace, std::string_view column);

/// "rate: at most 18.8 bytes/cycle, 90% of it from 20 KiB" or "latency: 23 cycles at 1, 85 cycles at 32", whichever
/// fits the unit of y.
[[nodiscard]] std::string shape_of(const Curve& curve, std::string_view name);

/// Whether the column holds rates, of which more is better.
[[nodiscard]] bool is_rate(const results::Trace::Column& column);

}  // namespace gputomo::report
