// When the blocks of one SM run.
#include "pages/parts.hpp"
#include "report/parts/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace gputomo::pages {
namespace {

using answer::Answer;
using report::escaped;

constexpr double kRow = 9, kAxis = 30;

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
    for (int tick = 0; tick <= 4; ++tick) {
        const double at = cycles * tick / 4;
        out += fmt::format("<text x='{:.1f}' y='{:.1f}' text-anchor={}>{:.0f}</text>", x(at), height + 13,
                           tick == 0   ? "start"
                           : tick == 4 ? "end"
                                       : "middle",
                           at);
    }
    return out +
           fmt::format("<text x='{:.1f}' y='{:.1f}' text-anchor=middle>cycles</text></svg>", width / 2, height + 26);
}

}  // namespace

std::string timeline(const Answer& a) {
    auto spans = a.timeline;
    if (spans.empty()) return {};
    std::ranges::stable_sort(spans, {}, &costs::BlockSpan::start);
    const auto rows = rows_of(spans);
    const double cycles = std::ranges::max_element(spans, {}, &costs::BlockSpan::end)->end;
    return fmt::format(
        "<figure><div class=wide>{}</div><div class=narrow>{}</div><figcaption>{}</figcaption></figure>",
        picture(spans, rows, cycles, kWidePicture), picture(spans, rows, cycles, kNarrowPicture),
        escaped(fmt::format("{} blocks of one SM, {}. Each bar is a block, from its start to the end of its last warp.",
                            spans.size(),
                            a.method == answer::Method::simulate ? "as they were simulated"
                                                                 : "as they were replayed for the prediction")));
}

}  // namespace gputomo::pages
