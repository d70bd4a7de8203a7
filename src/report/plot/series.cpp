#include "report/plot/series.hpp"

#include "report/parts/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

namespace gputomo::report {
namespace {

/// A series with more points than this is thinned. It is twice the points that thinning keeps: two in each of
/// `kColumns` columns.
constexpr std::size_t kMostPoints = 4000;
/// A map with more cells than this is thinned to the kPlacesAcross x kPlacesDown places that can be distinguished.
constexpr std::size_t kMostCells = 20000;
/// Columns of pixels on a wide screen. Thinning keeps the smallest and the largest value of each.
constexpr std::size_t kColumns = 1000;
/// Places across and down a map or timeline that a reader can distinguish.
constexpr double kPlacesAcross = 160, kPlacesDown = 100;
/// Most series of a split plot: the colours of more lines cannot be distinguished.
constexpr std::size_t kMostSeries = 12;

const results::Trace::Column* column(const results::Trace& trace, const std::string& name) {
    const auto found =
        std::find_if(trace.columns.begin(), trace.columns.end(), [&](const auto& c) { return c.name == name; });
    return found == trace.columns.end() ? nullptr : &*found;
}

bool drawable(double value, bool log) { return std::isfinite(value) && (!log || value > 0); }

/// Keeps the rows of the smallest and the largest value of each pixel column.
void keep_extremes(Series& series, bool log_x) {
    Range range;
    for (const auto i : series.points) range.add(series.x->values[i]);
    const Axis x(range.low, range.high, log_x, 0, static_cast<double>(kColumns));
    struct Extremes {
        std::optional<std::size_t> lowest, highest;
    };
    std::vector<Extremes> columns(kColumns);
    const auto& ys = series.y->values;
    for (const auto i : series.points) {
        auto& extremes = columns[std::clamp<std::size_t>(
            static_cast<std::size_t>(std::max(0.0, x.at(series.x->values[i]))), 0, kColumns - 1)];
        if (!extremes.lowest || ys[i] < ys[*extremes.lowest]) extremes.lowest = i;
        if (!extremes.highest || ys[i] > ys[*extremes.highest]) extremes.highest = i;
    }
    series.points.clear();
    for (const auto& extremes : columns)
        for (const auto& kept : {extremes.lowest, extremes.highest})
            if (kept) series.points.push_back(*kept);
    std::sort(series.points.begin(), series.points.end());
    series.points.erase(std::unique(series.points.begin(), series.points.end()), series.points.end());
}

/// Keeps one row for each place: that of the largest shade in a map, or of the longest bar in a timeline.
void keep_strongest(Series& series, bool log_x, bool log_y) {
    Range xs, ys;
    for (const auto i : series.points) xs.add(series.x->values[i]), ys.add(series.y->values[i]);
    const Axis x(xs.low, xs.high, log_x, 0, kPlacesAcross), y(ys.low, ys.high, log_y, 0, kPlacesDown);
    const auto strength = [&](std::size_t i) {
        return series.shade != nullptr ? series.shade->values[i] : series.until->values[i] - series.x->values[i];
    };
    std::map<std::pair<int, int>, std::size_t> places;
    for (const auto i : series.points) {
        const std::pair place{static_cast<int>(x.at(series.x->values[i])), static_cast<int>(y.at(series.y->values[i]))};
        const auto [found, is_new] = places.emplace(place, i);
        if (!is_new && strength(i) > strength(found->second)) found->second = i;
    }
    series.points.clear();
    for (const auto& [place, i] : places) series.points.push_back(i);
    std::sort(series.points.begin(), series.points.end());
}

void thin(Series& series, const results::Trace::Plot& plot) {
    if (series.points.size() <= (series.shade != nullptr ? kMostCells : kMostPoints)) return;
    if (series.shade != nullptr || series.until != nullptr)
        keep_strongest(series, plot.log_x, plot.log_y);
    else
        keep_extremes(series, plot.log_x);
    series.thinned = true;
}

/// The column that the plot names, if it has as many rows as `x`.
const results::Trace::Column* beside(const results::Trace& trace, const std::string& name,
                                     const results::Trace::Column& x) {
    const auto* found = name.empty() ? nullptr : column(trace, name);
    return found != nullptr && found->values.size() == x.values.size() ? found : nullptr;
}

/// One series for each value of the plot's split column, or one of all rows where the plot is not split.
std::vector<Series> parts_of(const results::Trace& trace, const Series& whole) {
    const auto* split = beside(trace, trace.plot.split, *whole.x);
    if (split == nullptr) return {whole};
    std::map<double, Series> parts;
    for (const auto i : whole.points) {
        const auto value = split->values[i];
        if (!parts.contains(value) && parts.size() == kMostSeries) continue;
        auto& part = parts.try_emplace(value, whole).first->second;
        if (part.name == whole.name) part.points.clear(), part.name = name_of_value(*split, value);
        part.points.push_back(i);
    }
    std::vector<Series> out;
    for (auto& [value, part] : parts) out.push_back(std::move(part));
    return out;
}

}  // namespace

std::vector<Series> series_of(const results::Trace& trace) {
    const auto& plot = trace.plot;
    const auto* xs = column(trace, plot.x);
    if (xs == nullptr) return {};
    std::vector<Series> found;
    for (const auto& name : plot.y) {
        const auto* ys = beside(trace, name, *xs);
        // One axis has one unit: a variance does not stand on an axis of cycles.
        if (ys == nullptr || (!found.empty() && ys->unit != found.front().y->unit)) continue;
        Series series{.name = name,
                      .x = xs,
                      .y = ys,
                      .shade = beside(trace, plot.shade, *xs),
                      .until = beside(trace, plot.until, *xs)};
        const auto finite = [](const results::Trace::Column* column, std::size_t i) {
            return column == nullptr || std::isfinite(column->values[i]);
        };
        for (std::size_t i = 0; i < xs->values.size(); ++i)
            if (drawable(xs->values[i], plot.log_x) && drawable(ys->values[i], plot.log_y) && finite(series.shade, i) &&
                finite(series.until, i))
                series.points.push_back(i);
        if (series.points.empty()) continue;
        for (auto& part : parts_of(trace, series)) {
            thin(part, plot);
            found.push_back(std::move(part));
        }
    }
    return found;
}

namespace {

/// Units of numbers that count or name things, so that an axis needs no unit.
bool countable(std::string_view unit) {
    constexpr std::array<std::string_view, 10> kUnits{"",     "count", "number",  "id",     "index",
                                                      "flag", "row",   "threads", "visits", "words"};
    return std::ranges::find(kUnits, unit) != kUnits.end();
}

bool in_bytes(const results::Trace::Column& column) {
    return column.unit == "bytes" || (column.unit.empty() && column.name == "bytes");
}

}  // namespace

std::string name_of_value(const results::Trace::Column& column, double value) {
    const std::string_view unit = column.unit;
    for (std::size_t at = 0; at < unit.size();) {
        const auto end = std::min(unit.find(", ", at), unit.size());
        const auto part = unit.substr(at, end - at);
        double number = 0;
        const auto [rest, error] = std::from_chars(part.data(), part.data() + part.size(), number);
        if (error == std::errc{} && number == value && rest != part.data() + part.size() && *rest == ' ')
            return std::string(part.substr(static_cast<std::size_t>(rest - part.data()) + 1));
        at = end + 2;
    }
    return column.unit == "bytes" ? number_text(value, machine::Unit::bytes)
                                  : fmt::format("{} {:g}", in_words(column.name), value);
}

std::string shown_unit(const results::Trace::Column& column) {
    return in_bytes(column) || countable(column.unit) ? "" : column.unit;
}

std::string axis_title(const results::Trace::Column& column) {
    const auto name = in_words(column.name);
    if (shown_unit(column).empty()) return name;
    // "cycles, cycles" says one thing twice, and so does "cycles, cycles/instruction".
    return column.unit.starts_with(column.name) ? column.unit : fmt::format("{}, {}", name, column.unit);
}

Ticks ticks_of(const results::Trace::Column& column) {
    if (in_bytes(column)) return Ticks::binary;
    const auto whole = [](double value) { return !std::isfinite(value) || value == std::round(value); };
    return (countable(column.unit) || column.unit.starts_with("warp")) && std::ranges::all_of(column.values, whole)
               ? Ticks::whole
               : Ticks::decimal;
}

std::string amount(double value, const results::Trace::Column& column) {
    if (in_bytes(column)) return number_text(value, machine::Unit::bytes);
    const auto number = number_text(value, machine::Unit::none);
    if (countable(column.unit)) return number;
    if (column.unit == "percent") return number + "%";
    return column.unit == "cycles" && value == 1 ? "1 cycle" : fmt::format("{} {}", number, column.unit);
}

std::string tick_text(double value, Ticks ticks) {
    return ticks == Ticks::binary ? number_text(value, machine::Unit::bytes) : fmt::format("{:.6g}", value);
}

}  // namespace gputomo::report
