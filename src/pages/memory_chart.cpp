// The memories of the GPU with the bytes that move between them.
#include "pages/parts.hpp"
#include "report/parts/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

namespace gputomo::pages {
namespace {

using answer::Answer;
using report::escaped;

constexpr double kWidth = 340, kBoxHeight = 44, kGap = 66, kLeft = 20, kBoxWidth = 300;
/// Where arrows up and down are: what is read goes up, what is written goes down.
constexpr double kUp = 145, kDown = 185;

/// Bytes on a way, and what share of the way's ceiling their rate is.
struct Way {
    std::optional<double> bytes;
    std::string rate;
};

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
    void between(const Way& up, const Way& down, const std::string& more = {}) {
        if (up.bytes) arrow(kUp, y_ + kGap - 3, y_ + 3, up, "end", -8);
        if (down.bytes) arrow(kDown, y_ + 3, y_ + kGap - 3, down, "start", 8);
        if (!more.empty())
            out_ += fmt::format("<text x='{}' y='{}'>{}</text>", kDown + 8, y_ + kGap / 2 + 26, escaped(more));
        y_ += kGap;
    }

    [[nodiscard]] std::string svg() const {
        return fmt::format(
            "<svg class=memory viewBox='0 0 {} {:.0f}' role=img aria-label='Bytes between memories'>{}</svg>", kWidth,
            y_ + 2, out_);
    }

private:
    void arrow(double x, double from, double to, const Way& way, std::string_view anchor, double aside) {
        out_ += fmt::format("<line class=arrow x1='{0}' x2='{0}' y1='{1}' y2='{2}'/>", x, from, to);
        const double back = to > from ? -8 : 8;
        out_ += fmt::format("<polygon class=tip points='{0},{1} {2},{3} {4},{3}'/>", x, to, x - 4, to + back, x + 4);
        const double middle = (from + to) / 2;
        out_ += fmt::format("<text class=name x='{}' y='{}' text-anchor={}>{}</text>", x + aside,
                            way.rate.empty() ? middle + 4 : middle - 3, anchor, quantity(*way.bytes, "B"));
        if (!way.rate.empty())
            out_ += fmt::format("<text x='{}' y='{}' text-anchor={}>{}</text>", x + aside, middle + 12, anchor,
                                escaped(way.rate));
    }

    std::string out_;
    double y_ = 2;
};

/// The rate of a way, and its share of what the way can do at most.
std::string rate_of(const Answer& a, std::string_view what) {
    const auto rate = std::ranges::find(a.byte_rates, what, &answer::Rate::what);
    if (rate == a.byte_rates.end() || rate->per_second <= 0) return {};
    return quantity(rate->per_second, "B/s") +
           (rate->ceiling ? fmt::format(", {}", percent(rate->per_second / *rate->ceiling)) : "");
}

/// The memory that is used most, by the share of what it can do.
std::string finding(const Answer& a) {
    if (!a.limiter) return {};
    const std::pair<const char*, double> units[] = {
        {"L1 and shared memory", a.limiter->used_l1}, {"L2", a.limiter->used_l2}, {"DRAM", a.limiter->used_dram}};
    const auto& most = *std::ranges::max_element(units, {}, [](const auto& unit) { return unit.second; });
    if (most.second <= 0) return {};
    return fmt::format("<p class=finding>{} {} used most: {} of what the GPU can do</p>", most.first,
                       most.first == units[0].first ? "are" : "is", percent(most.second));
}

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
    chart.box("Warps of the SMs",
              work.shared_accesses.value_or(0) > 0
                  ? fmt::format("{} shared accesses", quantity(*work.shared_accesses, ""))
                  : "",
              used(&answer::Limiter::used_sm));
    chart.between({work.l1_bytes, rate_of(a, "registers from L1")}, {work.l2_written_bytes, ""});
    chart.box("L1 and shared memory",
              work.l1_hit_rate ? fmt::format("{:.1f}% hits", 100 * *work.l1_hit_rate) : hits(a, "l1"),
              used(&answer::Limiter::used_l1));
    const double atomics = work.l2_atomic_bytes.value_or(0);
    chart.between({work.l2_read_bytes, rate_of(a, "L1 from L2")}, {work.l2_written_bytes, rate_of(a, "L1 to L2")},
                  atomics > 0 ? fmt::format("atomics {}", quantity(atomics, "B")) : "");
    chart.box("L2", hits(a, "l2"), used(&answer::Limiter::used_l2));
    if (work.dram_read_bytes)
        chart.between({work.dram_read_bytes, rate_of(a, "L2 from DRAM")},
                      {work.dram_written_bytes, rate_of(a, "L2 to DRAM")});
    else
        chart.between({work.dram_bytes, ""}, {}, "read and written");
    chart.box("DRAM", "", used(&answer::Limiter::used_dram));
    std::string caption = "Bytes that all SMs read (up) and write (down), their rate, and its share of the ceiling.";
    if (work.footprint_read_bytes)
        caption +=
            fmt::format(" The launch touches {} to read and {} to write{}.", quantity(*work.footprint_read_bytes, "B"),
                        quantity(work.footprint_written_bytes.value_or(0), "B"),
                        work.footprint_exact ? "" : ", estimated from the sampled blocks");
    return fmt::format("{}<figure>{}<figcaption>{}</figcaption></figure>", finding(a), chart.svg(), escaped(caption));
}

}  // namespace gputomo::pages
