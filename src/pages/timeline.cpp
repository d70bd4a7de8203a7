// When the blocks of one SM run.
#include "pages/parts.hpp"
#include "report/parts/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

namespace gputomo::pages {
namespace {

using answer::Answer;
using report::escaped;

constexpr double kRow = 9, kAxis = 30;

/// A round number of cycles between ticks, so that there are about four.
double round_step(double cycles) {
    const double raw = cycles / 4, magnitude = std::pow(10, std::floor(std::log10(raw)));
    return magnitude * (raw / magnitude < 2 ? 2 : raw / magnitude < 5 ? 5 : 10);
}

/// The most blocks that run at one time, and the share of the time in which at least half of them do.
struct Busy {
    int most = 0;
    double half_share = 0;
};
Busy busy_of(const std::vector<costs::BlockSpan>& spans, double cycles) {
    std::vector<std::pair<double, int>> changes;
    for (const auto& span : spans) changes.emplace_back(span.start, 1), changes.emplace_back(span.end, -1);
    std::ranges::sort(changes);
    Busy busy;
    int running = 0;
    for (const auto& change : changes) busy.most = std::max(busy.most, running += change.second);
    running = 0;
    double last = 0, half = 0;
    for (const auto& [at, change] : changes) {
        if (2 * running >= busy.most) half += at - last;
        running += change, last = at;
    }
    busy.half_share = cycles > 0 ? half / cycles : 0;
    return busy;
}

/// Each block lies in the first row that is free when it starts.
std::vector<std::size_t> rows_of(const std::vector<costs::BlockSpan>& spans) {
    std::vector<std::size_t> rows;
    std::vector<double> free;
    for (const auto& span : spans) {
        auto row = static_cast<std::size_t>(std::ranges::find_if(free, [&](double end) { return end <= span.start; }) -
                                            free.begin());
        if (row == free.size()) free.push_back(0);
        free[row] = span.end;
        rows.push_back(row);
    }
    return rows;
}

std::string picture(const std::vector<costs::BlockSpan>& spans, const std::vector<std::size_t>& rows, double cycles,
                    double width) {
    const double height = kRow * static_cast<double>(*std::ranges::max_element(rows) + 1);
    const auto x = [&](double at) { return at / cycles * (width - 2) + 1; };
    std::string out =
        fmt::format("<svg class=timeline viewBox='0 0 {:.0f} {:.0f}' role=img aria-label='Blocks of an SM over time'>",
                    width, height + kAxis);
    for (std::size_t i = 0; i < spans.size(); ++i)
        out += fmt::format(
            "<rect class=t{} x='{:.1f}' y='{:.1f}' width='{:.1f}' height='{}'><title>block {}: cycles {:.0f} to "
            "{:.0f}</title></rect>",
            i % 2, x(spans[i].start), kRow * static_cast<double>(rows[i]),
            std::max(0.5, x(spans[i].end) - x(spans[i].start) - 0.5), kRow - 1, spans[i].block, spans[i].start,
            spans[i].end);
    const double step = round_step(cycles);
    for (int tick = 0; tick * step <= cycles; ++tick) {
        const double at = tick * step;
        out += fmt::format("<line class=grid x1='{0:.1f}' x2='{0:.1f}' y1=0 y2='{1:.1f}'/>", x(at), height);
        // The last one ends at the edge where its text would reach beyond it.
        const bool at_edge = x(at) > width - 20;
        out += fmt::format("<text x='{:.1f}' y='{:.1f}' text-anchor={}>{:.0f}</text>", at_edge ? width : x(at),
                           height + 13,
                           tick == 0 ? "start"
                           : at_edge ? "end"
                                     : "middle",
                           at);
    }
    return out + fmt::format(
                     "<text x='{:.1f}' y='{:.1f}' text-anchor=middle>cycles from the start of the launch</text>"
                     "</svg>",
                     width / 2, height + 26);
}

}  // namespace

std::string timeline(const Answer& a) {
    auto spans = a.timeline;
    if (spans.empty()) return {};
    std::ranges::stable_sort(spans, {}, &costs::BlockSpan::start);
    const auto rows = rows_of(spans);
    const double cycles = std::ranges::max_element(spans, {}, &costs::BlockSpan::end)->end;
    const auto busy = busy_of(spans, cycles);
    return fmt::format(
        "<p class=finding>{}</p><figure><div class=wide>{}</div><div class=narrow>{}</div><figcaption>{}</figcaption>"
        "</figure>",
        escaped(fmt::format("At most {} block{} of the SM run{} at once; at least half as many do in {} of the time",
                            busy.most, busy.most == 1 ? "" : "s", busy.most == 1 ? "s" : "", percent(busy.half_share))),
        picture(spans, rows, cycles, kWidePicture), picture(spans, rows, cycles, kNarrowPicture),
        escaped(fmt::format("{} blocks of one SM, {}. Each bar is a block, from its start to the end of its last warp.",
                            spans.size(),
                            a.method == answer::Method::simulate ? "as they were simulated"
                                                                 : "as they were replayed for the prediction")));
}

}  // namespace gputomo::pages
