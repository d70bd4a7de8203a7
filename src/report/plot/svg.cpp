#include "report/plot/svg.hpp"

#include "report/parts/text.hpp"
#include "report/plot/axis.hpp"
#include "report/plot/series.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <vector>

namespace gputomo::report {
namespace {

constexpr double kWidth = 640, kHeight = 300, kLeft = 64, kRight = 16, kTop = 16, kBottom = 44;
constexpr std::array<std::string_view, 6> kColours{"#2f6fde", "#d9622b", "#2a9d63", "#a04bc4", "#b08a1e", "#5b6b7b"};
/// Mean width of a character at the font size of page.css (11 px). With a smaller value, text at an edge is cut.
constexpr double kCharacter = 6.2;

std::string axes(const Axis& x, const Axis& y, const results::Trace::Column& across, const results::Trace::Column& up) {
    std::string out;
    for (const double t : x.ticks()) {
        const auto text = tick_text(t, ticks_of(across));
        const bool reaches_out = x.at(t) + kCharacter * static_cast<double>(text.size()) / 2 > kWidth;
        out += fmt::format(
            "<line class=grid x1='{0:.1f}' x2='{0:.1f}' y1='{1}' y2='{2}'/><text x='{5:.1f}' y='{3}' "
            "text-anchor={6}>{4}</text>",
            x.at(t), kTop, kHeight - kBottom, kHeight - kBottom + 16, text, reaches_out ? kWidth : x.at(t),
            reaches_out ? "end" : "middle");
    }
    for (const double t : y.ticks())
        out += fmt::format(
            "<line class=grid x1='{0}' x2='{1}' y1='{2:.1f}' y2='{2:.1f}'/><text x='{3}' y='{4:.1f}' "
            "text-anchor=end>{5}</text>",
            kLeft, kWidth - kRight, y.at(t), kLeft - 6, y.at(t) + 4, tick_text(t, ticks_of(up)));
    return out + fmt::format(
                     "<text x='{}' y='{}' text-anchor=middle>{}</text><text x='14' y='{}' text-anchor=middle "
                     "transform='rotate(-90 14 {})'>{}</text>",
                     (kLeft + kWidth - kRight) / 2, kHeight - 8, escaped(axis_title(across)), kHeight / 2, kHeight / 2,
                     escaped(axis_title(up)));
}

struct Scales {
    Axis x, y;
    Range shades;
};

/// A colour from dark blue through green to yellow, as `share` grows from 0 to 1.
std::string shade_of(double share) {
    return fmt::format("hsl({:.0f} 75% {:.0f}%)", 260 - 205 * share, 28 + 32 * share);
}

std::string mark(const Series& series, std::size_t i, const Scales& scales) {
    const double x = series.x->values[i], y = series.y->values[i], px = scales.x.at(x), py = scales.y.at(y);
    if (series.until != nullptr)
        return fmt::format(
            "<rect x='{:.1f}' y='{:.1f}' width='{:.1f}' height=4><title>{:.6g}: {:.6g} to {:.6g}</title></rect>", px,
            py - 2, std::max(0.5, scales.x.at(series.until->values[i]) - px), y, x, series.until->values[i]);
    return fmt::format("<circle cx='{:.1f}' cy='{:.1f}' r=2><title>{:.6g}, {:.6g}</title></circle>", px, py, x, y);
}

/// The smallest distance between two places in SVG units, so that a full map has no gaps. Where that is below 1 unit,
/// cells are squares of kSquare.
double cell_size(const std::vector<double>& values, const std::vector<std::size_t>& points, const Axis& axis) {
    constexpr double kSquare = 6, kLargest = 40;
    std::set<double> places;
    for (const auto i : points) places.insert(axis.at(values[i]));
    double least = kLargest;
    for (auto at = places.begin(); at != places.end() && std::next(at) != places.end(); ++at)
        least = std::min(least, *std::next(at) - *at);
    return least < 1 || places.size() < 2 ? kSquare : least;
}

/// The cells of a map, grouped by shade into one path each.
std::string map_of(const Series& series, const Scales& scales) {
    constexpr int kShades = 24;
    const double width = cell_size(series.x->values, series.points, scales.x),
                 height = cell_size(series.y->values, series.points, scales.y);
    const double span = scales.shades.high - scales.shades.low;
    std::map<int, std::string> cells;
    for (const auto i : series.points) {
        const double share = span > 0 ? (series.shade->values[i] - scales.shades.low) / span : 0.5;
        const double x = scales.x.at(series.x->values[i]), y = scales.y.at(series.y->values[i]);
        const double left = std::max(kLeft, x - width / 2), right = std::min(kWidth - kRight, x + width / 2),
                     top = std::max(kTop, y - height / 2), bottom = std::min(kHeight - kBottom, y + height / 2);
        cells[static_cast<int>(std::lround(share * kShades))] +=
            fmt::format("M{:.1f} {:.1f}h{:.1f}v{:.1f}h-{:.1f}z", left, top, right - left, bottom - top, right - left);
    }
    std::string out;
    for (const auto& [shade, path] : cells)
        out += fmt::format("<path fill='{}' d='{}'/>", shade_of(static_cast<double>(shade) / kShades), path);
    return out;
}

std::string line(const Series& series, const Scales& scales) {
    std::string points;
    for (const auto i : series.points)
        points += fmt::format("{:.1f},{:.1f} ", scales.x.at(series.x->values[i]), scales.y.at(series.y->values[i]));
    return fmt::format("<polyline points='{}'/>", points);
}

std::string points(const Series& series, const Scales& scales, bool as_line) {
    if (as_line) return line(series, scales);
    if (series.shade != nullptr) return map_of(series, scales);
    std::string out;
    for (const auto i : series.points) out += mark(series, i, scales);
    return out;
}

/// Lines at the marks that lie within the axes. The label of a line close to the right end is left of it. Each label of
/// a standing line is lower than the one before, so that they do not cover each other.
std::string drawn(const std::vector<Mark>& marks, const Scales& scales) {
    std::string out;
    double next = kTop + 10;
    for (const auto& mark : marks) {
        const bool standing = mark.axis == Mark::Axis::x;
        const Axis& axis = standing ? scales.x : scales.y;
        if (!axis.holds(mark.at)) continue;
        const double at = axis.at(mark.at);
        if (standing) {
            const bool left = at + kCharacter * static_cast<double>(mark.label.size()) + 5 > kWidth - kRight;
            out += fmt::format(
                "<line class=mark x1='{0:.1f}' x2='{0:.1f}' y1='{1}' y2='{2}'/><text class=mark x='{3:.1f}' y='{4}' "
                "text-anchor={5}>{6}</text>",
                at, kTop, kHeight - kBottom, left ? at - 5 : at + 5, next, left ? "end" : "start", escaped(mark.label));
            next += 13;
        } else {
            const bool below = at - kTop < 14;
            out += fmt::format(
                "<line class=mark x1='{0}' x2='{1}' y1='{2:.1f}' y2='{2:.1f}'/><text class=mark x='{3}' y='{4:.1f}'>"
                "{5}</text>",
                kLeft, kWidth - kRight, at, kLeft + 5, below ? at + 12 : at - 4, escaped(mark.label));
        }
    }
    return out;
}

}  // namespace

std::string svg(const results::Trace& trace, const std::vector<std::string>& lines, const std::vector<Mark>& marks) {
    const auto all = series_of(trace);
    if (all.empty()) return {};
    Range x_range, y_range, shades;
    for (const auto& s : all)
        for (const auto i : s.points) {
            x_range.add(s.x->values[i]), y_range.add(s.y->values[i]);
            if (s.until != nullptr) x_range.add(s.until->values[i]);
            if (s.shade != nullptr) shades.add(s.shade->values[i]);
        }
    if (!trace.plot.log_y) y_range.low = std::min(y_range.low, 0.0);
    const auto &across = *all.front().x, &up = *all.front().y;
    const Scales scales{{x_range.low, x_range.high, trace.plot.log_x, kLeft, kWidth - kRight, ticks_of(across)},
                        {y_range.low, y_range.high, trace.plot.log_y, kHeight - kBottom, kTop, ticks_of(up)},
                        shades};
    std::string out =
        fmt::format("<svg viewBox='0 0 {} {}' role=img aria-label='{}'>", kWidth, kHeight, escaped(trace.plot.title));
    out += axes(scales.x, scales.y, across, up);
    for (std::size_t s = 0; s < all.size(); ++s) {
        const auto colour = kColours[s % kColours.size()];
        const bool as_line = std::find(lines.begin(), lines.end(), all[s].name) != lines.end();
        out +=
            fmt::format("<g {}='{}'>", as_line ? "fill=none stroke" : "fill", colour) + points(all[s], scales, as_line);
        const auto name =
            all[s].shade != nullptr ? fmt::format("colour: {}", axis_title(*all[s].shade)) : in_words(all[s].name);
        out += fmt::format("</g><text x='{}' y='{}' style='fill:{}' text-anchor=end>{}</text>", kWidth - kRight,
                           kTop + 12 + 14.0 * static_cast<double>(s), colour, escaped(name));
    }
    return out + drawn(marks, scales) + "</svg>";
}

}  // namespace gputomo::report
