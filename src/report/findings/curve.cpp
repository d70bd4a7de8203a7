#include "report/findings/curve.hpp"

#include "report/plot/series.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>

namespace gputomo::report {
namespace {

using Point = std::pair<double, double>;

/// Values that differ by less than this share are called the same.
constexpr double kSame = 0.02;

/// The column of this name, or one without values: a trace of another version may have other columns.
const results::Trace::Column& column_of(const results::Trace& trace, std::string_view name) {
    static const results::Trace::Column kNone;
    const auto* found = trace.column(name);
    return found == nullptr ? kNone : *found;
}

}  // namespace

Curve::Curve(const results::Trace& trace, std::string_view x, std::string_view y, std::string_view split, double value)
    : x_(&column_of(trace, x)), y_(&column_of(trace, y)) {
    const auto* by = split.empty() ? nullptr : &column_of(trace, split);
    for (std::size_t i = 0; i < std::min(x_->values.size(), y_->values.size()); ++i)
        if (std::isfinite(x_->values[i]) && std::isfinite(y_->values[i]) &&
            (by == nullptr || (i < by->values.size() && by->values[i] == value)))
            points_.emplace_back(x_->values[i], y_->values[i]);
    std::ranges::stable_sort(points_, {}, &Point::first);
}

Point Curve::highest() const { return *std::ranges::max_element(points_, {}, &Point::second); }

Point Curve::lowest() const { return *std::ranges::min_element(points_, {}, &Point::second); }

std::optional<double> Curve::reaches(double y) const {
    for (std::size_t i = 0; i < points_.size(); ++i) {
        if (points_[i].second < y) continue;
        if (i == 0) return points_[i].first;
        const auto& [x0, y0] = points_[i - 1];
        const auto& [x1, y1] = points_[i];
        return x0 + (x1 - x0) * (y - y0) / (y1 - y0);
    }
    return std::nullopt;
}

std::optional<double> Curve::sample_from(double y) const {
    const auto found = std::ranges::find_if(points_, [&](const Point& point) { return point.second >= y; });
    return found == points_.end() ? std::nullopt : std::optional(found->first);
}

std::optional<double> Curve::last_below(double y) const {
    const auto found = std::ranges::find_if(points_, [&](const Point& point) { return point.second >= y; });
    return found == points_.begin() ? std::nullopt : std::optional(std::prev(found)->first);
}

double Curve::mean() const {
    double sum = 0;
    for (const auto& [x, y] : points_) sum += y;
    return points_.empty() ? 0 : sum / static_cast<double>(points_.size());
}

std::vector<double> values_of(const results::Trace& trace, std::string_view column) {
    const auto& values = column_of(trace, column).values;
    std::set<double> different;
    for (const double value : values)
        if (std::isfinite(value)) different.insert(value);
    return {different.begin(), different.end()};
}

bool is_rate(const results::Trace::Column& column) {
    return column.name == "rate" || column.unit.find("B/s") != std::string::npos ||
           column.unit.find("/cycle") != std::string::npos;
}

std::string shape_of(const Curve& curve, std::string_view name) {
    if (curve.empty()) return {};
    const auto [first_x, first] = curve.first();
    const auto [last_x, last] = curve.last();
    const auto [top_x, top] = curve.highest();
    const auto low = curve.lowest().second;
    if (top - low <= kSame * std::abs(top)) return fmt::format("{}: {} throughout", name, amount(last, curve.y()));
    if (is_rate(curve.y())) {
        const auto from = curve.sample_from(kNearlyAll * top);
        return fmt::format("{}: at most {}, {:.0f}% of it from {}", name, amount(top, curve.y()), 100 * kNearlyAll,
                           amount(from.value_or(top_x), curve.x()));
    }
    auto out = fmt::format("{}: {} at {}, {} at {}", name, amount(first, curve.y()), amount(first_x, curve.x()),
                           amount(last, curve.y()), amount(last_x, curve.x()));
    if (top > std::max(first, last) * (1 + kSame))
        out += fmt::format(", at most {} at {}", amount(top, curve.y()), amount(top_x, curve.x()));
    return out;
}

}  // namespace gputomo::report
