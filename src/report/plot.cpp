#include "report/plot.hpp"

#include "report/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

namespace gputomo::report {
namespace {

constexpr double kWidth = 640, kHeight = 300, kLeft = 64, kRight = 16, kTop = 16, kBottom = 44;
constexpr std::array<std::string_view, 6> kColours{"#2f6fde", "#d9622b", "#2a9d63", "#a04bc4", "#b08a1e", "#5b6b7b"};
/// A series of more points is thinned.
constexpr std::size_t kMostPoints = 4000;
/// Columns of pixels on a wide screen: of each, the smallest and the largest value are kept.
constexpr std::size_t kColumns = 1000;

/// About five round numbers within [low, high]. Counted, because a step below the precision of huge values adds nothing to them.
std::vector<double> linear_ticks(double low, double high) {
    const double raw = (high - low) / 5, magnitude = std::pow(10, std::floor(std::log10(raw)));
    const double step = magnitude * (raw / magnitude < 2 ? 2 : raw / magnitude < 5 ? 5 : 10);
    const double first = std::ceil(low / step) * step;
    std::vector<double> ticks;
    for (int i = 0; i <= 10 && first + i * step <= high + 1e-9 * step; ++i) {
        const double tick = first + i * step;
        ticks.push_back(std::abs(tick) < 1e-9 * step ? 0 : tick);
    }
    return ticks;
}

std::vector<double> powers_of_two(double low_exponent, double high_exponent) {
    const int step = std::max(1, static_cast<int>(std::ceil((high_exponent - low_exponent) / 6)));
    std::vector<double> ticks;
    for (int exponent = static_cast<int>(std::ceil(low_exponent)); exponent <= high_exponent + 1e-9; exponent += step) ticks.push_back(std::exp2(exponent));
    return ticks;
}

/// Maps values to pixels, linearly or by their logarithm.
class Axis {
public:
    Axis(double low, double high, bool log, double from, double to) : log_(log), low_(scale(low)), high_(scale(high)), from_(from), to_(to) {
        const double largest = std::max(std::abs(low_), std::abs(high_));
        if (high_ - low_ > 1e-14 * largest && high_ - low_ > 1e-12) return;
        low_ -= std::max(1.0, largest / 1000);
        high_ += std::max(1.0, largest / 1000);
    }
    [[nodiscard]] double at(double value) const { return from_ + (scale(value) - low_) / (high_ - low_) * (to_ - from_); }
    [[nodiscard]] std::vector<double> ticks() const {
        if (!log_) return linear_ticks(low_, high_);
        auto ticks = powers_of_two(low_, high_);
        return ticks.size() >= 2 ? ticks : linear_ticks(std::exp2(low_), std::exp2(high_));  // within one octave
    }

private:
    [[nodiscard]] double scale(double value) const { return log_ ? std::log2(value) : value; }
    bool log_;
    double low_, high_, from_, to_;
};

const deduce::Trace::Column* column(const deduce::Trace& trace, const std::string& name) {
    const auto found = std::find_if(trace.columns.begin(), trace.columns.end(), [&](const auto& c) { return c.name == name; });
    return found == trace.columns.end() ? nullptr : &*found;
}

bool drawable(double value, bool log) { return std::isfinite(value) && (!log || value > 0); }

struct Range {
    double low = std::numeric_limits<double>::infinity();
    double high = -std::numeric_limits<double>::infinity();
    void add(double value) {
        low = std::min(low, value);
        high = std::max(high, value);
    }
};

/// Keeps the rows of the smallest and the largest value of each pixel column.
void thin(Series& series, bool log_x) {
    if (series.points.size() <= kMostPoints) return;
    Range range;
    for (const auto i : series.points) range.add(series.x->values[i]);
    const Axis x(range.low, range.high, log_x, 0, static_cast<double>(kColumns));
    struct Extremes {
        std::optional<std::size_t> lowest, highest;
    };
    std::vector<Extremes> columns(kColumns);
    const auto& ys = series.y->values;
    for (const auto i : series.points) {
        auto& at = columns[std::clamp<std::size_t>(static_cast<std::size_t>(std::max(0.0, x.at(series.x->values[i]))), 0, kColumns - 1)];
        if (!at.lowest || ys[i] < ys[*at.lowest]) at.lowest = i;
        if (!at.highest || ys[i] > ys[*at.highest]) at.highest = i;
    }
    series.points.clear();
    for (const auto& at : columns)
        for (const auto& kept : {at.lowest, at.highest})
            if (kept) series.points.push_back(*kept);
    std::sort(series.points.begin(), series.points.end());
    series.points.erase(std::unique(series.points.begin(), series.points.end()), series.points.end());
    series.thinned = true;
}

std::string label_of(const deduce::Trace::Column& column) { return column.name + (column.unit.empty() ? "" : ", " + column.unit); }

std::string tick_text(double value) {
    if (value >= 1024 && std::fmod(value, 1024) == 0) {
        constexpr std::array<std::string_view, 5> kUnits{"", "Ki", "Mi", "Gi", "Ti"};
        std::size_t unit = 0;
        while (value >= 1024 && std::fmod(value, 1024) == 0 && unit + 1 < kUnits.size()) value /= 1024, ++unit;
        return fmt::format("{:.6g}{}", value, kUnits[unit]);
    }
    return fmt::format("{:.6g}", value);
}

std::string axes(const Axis& x, const Axis& y, const std::string& x_label, const std::string& y_label) {
    std::string out;
    for (const double t : x.ticks())
        out += fmt::format("<line class=grid x1='{0:.1f}' x2='{0:.1f}' y1='{1}' y2='{2}'/><text x='{0:.1f}' y='{3}' text-anchor=middle>{4}</text>", x.at(t), kTop, kHeight - kBottom, kHeight - kBottom + 16, tick_text(t));
    for (const double t : y.ticks())
        out += fmt::format("<line class=grid x1='{0}' x2='{1}' y1='{2:.1f}' y2='{2:.1f}'/><text x='{3}' y='{4:.1f}' text-anchor=end>{5}</text>", kLeft, kWidth - kRight, y.at(t), kLeft - 6, y.at(t) + 4, tick_text(t));
    return out + fmt::format("<text x='{}' y='{}' text-anchor=middle>{}</text><text x='14' y='{}' text-anchor=middle transform='rotate(-90 14 {})'>{}</text>", (kLeft + kWidth - kRight) / 2, kHeight - 8, escaped(x_label), kHeight / 2, kHeight / 2, escaped(y_label));
}

}  // namespace

std::vector<Series> series_of(const deduce::Trace& trace) {
    const auto* xs = column(trace, trace.plot.x);
    if (xs == nullptr) return {};
    std::vector<Series> all;
    for (const auto& name : trace.plot.y) {
        const auto* ys = column(trace, name);
        if (ys == nullptr || ys->values.size() != xs->values.size()) continue;
        Series series{.x = xs, .y = ys};
        for (std::size_t i = 0; i < xs->values.size(); ++i)
            if (drawable(xs->values[i], trace.plot.log_x) && drawable(ys->values[i], trace.plot.log_y)) series.points.push_back(i);
        if (series.points.empty()) continue;
        thin(series, trace.plot.log_x);
        all.push_back(std::move(series));
    }
    return all;
}

std::string svg(const deduce::Trace& trace) {
    const auto all = series_of(trace);
    if (all.empty()) return {};
    Range x_range, y_range;
    for (const auto& s : all)
        for (const auto i : s.points) x_range.add(s.x->values[i]), y_range.add(s.y->values[i]);
    if (!trace.plot.log_y) y_range.low = std::min(y_range.low, 0.0);
    const Axis x(x_range.low, x_range.high, trace.plot.log_x, kLeft, kWidth - kRight), y(y_range.low, y_range.high, trace.plot.log_y, kHeight - kBottom, kTop);
    std::string out = fmt::format("<svg viewBox='0 0 {} {}' role=img aria-label='{}'>", kWidth, kHeight, escaped(trace.plot.title));
    out += axes(x, y, label_of(*all.front().x), label_of(*all.front().y));
    for (std::size_t s = 0; s < all.size(); ++s) {
        const auto colour = kColours[s % kColours.size()];
        out += fmt::format("<g fill='{}'>", colour);
        for (const auto i : all[s].points) {
            const double px = all[s].x->values[i], py = all[s].y->values[i];
            out += fmt::format("<circle cx='{:.1f}' cy='{:.1f}' r=2><title>{:.6g}, {:.6g}</title></circle>", x.at(px), y.at(py), px, py);
        }
        out += fmt::format("</g><text x='{}' y='{}' style='fill:{}' text-anchor=end>{}</text>", kWidth - kRight, kTop + 12 + 14.0 * static_cast<double>(s), colour, escaped(all[s].y->name));
    }
    return out + "</svg>";
}

}  // namespace gputomo::report
