#include "report/boxes.hpp"

#include "report/parts/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace gputomo::report {
namespace {

/// Lengths in SVG units; kCharacter is the mean width of a character at the font size of page.css (11 px). A value that
/// is too small lets text run out of its box.
constexpr double kGap = 8, kLine = 15, kPad = 8, kCell = 7, kCharacter = 6.5, kBetweenFrames = 18;

double least_width(const Box& box) {
    std::size_t longest = box.title.size() + 1;  // the title is bold
    for (const auto& line : box.lines) longest = std::max(longest, line.size());
    return std::max(80.0, 2 * kPad + kCharacter * static_cast<double>(longest));
}

/// The number of squares in each line of each group.
int cells_per_line(const Box& box, double width) {
    const int per_group = box.cells / box.groups;
    const double room = (width - 2 * kPad - kCell * (box.groups - 1)) / box.groups;
    return std::clamp(static_cast<int>(room / kCell), 1, std::max(1, per_group));
}

double height_of(const Box& box, double width) {
    double height = 2 * kPad + kLine * static_cast<double>(1 + box.lines.size()) - 3;
    if (box.cells == 0) return height;
    const int per_group = box.cells / box.groups;
    return height + 4 + kCell * std::ceil(static_cast<double>(per_group) / cells_per_line(box, width));
}

std::string squares(const Box& box, double x, double y, double width) {
    const int per_line = cells_per_line(box, width), per_group = box.cells / box.groups;
    std::string path;
    for (int i = 0; i < box.cells; ++i) {
        const int group = i / per_group, within = i % per_group, line = within / per_line;
        path += fmt::format("M{:.1f} {:.1f}h5v5h-5z",
                            x + kPad + group * (per_line + 1) * kCell + within % per_line * kCell, y + line * kCell);
    }
    return fmt::format("<path class=cells d='{}'/>", path);
}

std::string draw_box(const Box& box, double x, double y, double width, double height) {
    std::string out;
    if (!box.link.empty()) out += fmt::format("<a href='#{}'>", escaped(box.link));
    out += fmt::format("<g class='box {}{}'><rect x='{:.1f}' y='{:.1f}' width='{:.1f}' height='{:.1f}' rx=5></rect>",
                       box.kind, box.undecided ? " undecided" : "", x, y, width, height);
    double baseline = y + kPad + 10;
    out += fmt::format("<text class=name x='{:.1f}' y='{:.1f}'>{}</text>", x + kPad, baseline, escaped(box.title));
    for (const auto& line : box.lines)
        out += fmt::format("<text x='{:.1f}' y='{:.1f}'>{}</text>", x + kPad, baseline += kLine, escaped(line));
    if (box.cells > 0) out += squares(box, x, baseline + 8, width);
    out += "</g>";
    return box.link.empty() ? out : out + "</a>";
}

/// Draws boxes from `y` down and moves `y` below them.
std::string draw_row(const BoxRow& row, double x, double& y, double width) {
    std::string out;
    for (std::size_t first = 0; first < row.size();) {
        std::size_t end = first;
        double wanted = -kGap;
        while (end < row.size() && (end == first || wanted + kGap + least_width(row[end]) <= width))
            wanted += kGap + least_width(row[end++]);
        const double stretch = std::max(0.0, width - wanted) / static_cast<double>(end - first);
        double height = 0;
        for (auto i = first; i < end; ++i) height = std::max(height, height_of(row[i], least_width(row[i]) + stretch));
        double at = x;
        for (; first < end; ++first) {
            const double box_width = std::min(width, least_width(row[first]) + stretch);
            out += draw_box(row[first], at, y, box_width, height);
            at += box_width + kGap;
        }
        y += height + kGap;
    }
    return out;
}

}  // namespace

std::string draw(const std::vector<BoxFrame>& frames, double width, std::string_view label) {
    if (frames.empty()) return {};
    std::string out;
    double y = 1;
    for (std::size_t i = 0; i < frames.size(); ++i) {
        const double top = y;
        y += kPad + 14 + kGap;
        std::string inside;
        for (const auto& row : frames[i].rows) inside += draw_row(row, 1 + kPad, y, width - 2 - 2 * kPad);
        y += kPad - kGap;
        out += fmt::format(
            "<rect class=frame x=1 y='{:.1f}' width='{:.1f}' height='{:.1f}' rx=8></rect><text class=frame-name x='{}' "
            "y='{:.1f}'>{}</text>{}",
            top, width - 2, y - top, 1 + kPad, top + kPad + 11, escaped(frames[i].title), inside);
        if (i + 1 == frames.size()) break;
        out += fmt::format("<path class=wire d='M{0:.1f} {1:.1f}v{2}'/>", width / 2, y, kBetweenFrames);
        y += kBetweenFrames;
    }
    return fmt::format("<svg class=gpu viewBox='0 0 {} {:.0f}' role=img aria-label='{}'>{}</svg>", width, y + 1,
                       escaped(label), out);
}

}  // namespace gputomo::report
