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

/// Maps the values from `low` to `high` to positions `from` to `to`, linearly or logarithmically.
class Axis {
public:
    Axis(double low, double high, bool log, double from, double to);
    [[nodiscard]] double at(double value) const {
        return from_ + (scale(value) - low_) / (high_ - low_) * (to_ - from_);
    }
    [[nodiscard]] std::vector<double> ticks() const;

private:
    [[nodiscard]] double scale(double value) const { return log_ ? std::log2(value) : value; }
    bool log_;
    double low_, high_, from_, to_;
};

}  // namespace gputomo::report
