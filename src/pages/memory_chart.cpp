// The memories of the GPU with the bytes that move between them.
#include "pages/parts.hpp"
#include "report/parts/text.hpp"

#include <fmt/format.h>

#include <optional>

namespace gputomo::pages {
namespace {

using answer::Answer;
using report::escaped;

constexpr double kWidth = 340, kBoxHeight = 44, kGap = 62, kLeft = 60, kBoxWidth = 220;
/// Where arrows up and down are: what is read goes up, what is written goes down.
constexpr double kUp = 120, kDown = 220;

class Chart {
public:
    void box(const std::string& name, const std::string& note, std::optional<double> used) {
        out_ += fmt::format("<rect class=box x='{}' y='{}' width='{}' height='{}' rx=5 />", kLeft, y_, kBoxWidth,
                            kBoxHeight);
        if (used)
            out_ += fmt::format(
                "<rect class=used x='{}' y='{}' width='{:.1f}' height=4 ><title>{:.0f}% of what the GPU "
                "can do</title></rect>",
                kLeft, y_ + kBoxHeight - 4, kBoxWidth * *used, 100 * *used);
        out_ += fmt::format("<text class=name x='{}' y='{}'>{}</text>", kLeft + 10, y_ + 18, escaped(name));
        const auto full = used ? fmt::format("{:.0f}% used{}{}", 100 * *used, note.empty() ? "" : ", ", note) : note;
        out_ += fmt::format("<text x='{}' y='{}'>{}</text>", kLeft + 10, y_ + 34, escaped(full));
        y_ += kBoxHeight;
    }

    /// Arrows between the box above and the next one. What was not counted has no arrow.
    void between(std::optional<double> up, std::optional<double> down, const std::string& more = {}) {
        if (up) arrow(kUp, y_ + kGap - 3, y_ + 3, quantity(*up, "B"), "end", -8);
        if (down) arrow(kDown, y_ + 3, y_ + kGap - 3, quantity(*down, "B"), "start", 8);
        if (!more.empty())
            out_ += fmt::format("<text x='{}' y='{}'>{}</text>", kDown + 8, y_ + kGap / 2 + 18, escaped(more));
        y_ += kGap;
    }

    [[nodiscard]] std::string svg() const {
        return fmt::format(
            "<svg class=memory viewBox='0 0 {} {:.0f}' role=img aria-label='Bytes between memories'>{}</svg>", kWidth,
            y_ + 2, out_);
    }

private:
    void arrow(double x, double from, double to, const std::string& label, std::string_view anchor, double aside) {
        out_ += fmt::format("<line class=arrow x1='{0}' x2='{0}' y1='{1}' y2='{2}'/>", x, from, to);
        const double back = to > from ? -8 : 8;
        out_ += fmt::format("<polygon class=tip points='{0},{1} {2},{3} {4},{3}'/>", x, to, x - 4, to + back, x + 4);
        out_ += fmt::format("<text x='{}' y='{}' text-anchor={}>{}</text>", x + aside, (from + to) / 2 + 4, anchor,
                            escaped(label));
    }

    std::string out_;
    double y_ = 2;
};

std::string hits(const Answer& a, const std::string& cache) {
    const auto found = a.work.caches.find(cache);
    if (found == a.work.caches.end()) return {};
    const auto all = static_cast<double>(found->second.hits + found->second.misses);
    return all > 0 ? fmt::format("{:.1f}% hits", 100 * static_cast<double>(found->second.hits) / all) : "";
}

}  // namespace

std::string memory_chart(const Answer& a) {
    const auto& work = a.work;
    const auto& limiter = a.limiter;
    const auto used = [&](double answer::Limiter::*unit) {
        return limiter ? std::optional((*limiter).*unit) : std::nullopt;
    };
    Chart chart;
    chart.box("Warps",
              work.shared_accesses.value_or(0) > 0
                  ? fmt::format("{} shared accesses", quantity(*work.shared_accesses, ""))
                  : "",
              used(&answer::Limiter::used_sm));
    chart.between(work.l1_bytes, work.l2_written_bytes);
    chart.box("L1 and shared memory",
              work.l1_hit_rate ? fmt::format("{:.1f}% hits", 100 * *work.l1_hit_rate) : hits(a, "l1"),
              used(&answer::Limiter::used_l1));
    const double atomics = work.l2_atomic_bytes.value_or(0);
    chart.between(work.l2_read_bytes, work.l2_written_bytes,
                  atomics > 0 ? fmt::format("atomics {}", quantity(atomics, "B")) : "");
    chart.box("L2", hits(a, "l2"), used(&answer::Limiter::used_l2));
    if (work.dram_read_bytes)
        chart.between(work.dram_read_bytes, work.dram_written_bytes);
    else
        chart.between(work.dram_bytes, {}, "read and written");
    chart.box("DRAM", "", used(&answer::Limiter::used_dram));
    std::string caption = "Bytes that all SMs read (up) and write (down).";
    if (work.footprint_read_bytes)
        caption +=
            fmt::format(" The launch touches {} to read and {} to write{}.", quantity(*work.footprint_read_bytes, "B"),
                        quantity(work.footprint_written_bytes.value_or(0), "B"),
                        work.footprint_exact ? "" : ", estimated from the sampled blocks");
    return fmt::format("<figure>{}<figcaption>{}</figcaption></figure>", chart.svg(), escaped(caption));
}

}  // namespace gputomo::pages
