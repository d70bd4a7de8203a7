// Maps values to positions in a picture, and finds round numbers for ticks.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace gputomo::report {

struct Range {
    double low = std::numeric_limits<double>::infinity();
    double high = -std::numeric_limits<double>::infinity();
    void add(double value) {
        low = std::min(low, value);
        high = std::max(high, value);
    }
};

/// Which numbers are round: counts have no fractions, and sizes are multiples of powers of two.
enum class Ticks { decimal, whole, binary };

/// Maps the values from `low` to `high` to positions `from` to `to`, linearly or logarithmically.
class Axis {
public:
    Axis(double low, double high, bool log, double from, double to, Ticks ticks = Ticks::decimal);
    [[nodiscard]] double at(double value) const {
        return from_ + (scale(value) - low_) / (high_ - low_) * (to_ - from_);
    }
    /// Whether the value lies between the two ends.
    [[nodiscard]] bool holds(double value) const {
        return (!log_ || value > 0) && scale(value) >= low_ && scale(value) <= high_;
    }
    [[nodiscard]] std::vector<double> ticks() const;

private:
    [[nodiscard]] double scale(double value) const { return log_ ? std::log2(value) : value; }
    bool log_;
    double low_, high_, from_, to_;
    Ticks kind_;
};

}  // namespace gputomo::report
