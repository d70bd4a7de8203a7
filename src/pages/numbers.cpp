// The numbers of a page: cards, bars and tables.
#include "pages/parts.hpp"
#include "report/parts/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace gputomo::pages {
namespace {

using answer::Answer;
using report::escaped;

/// Bounds below this share of the longest bar are not shown.
constexpr double kShownBar = 0.01;

std::string card(const std::string& value, const std::string& label) {
    return fmt::format("<div class=card><b>{}</b><span>{}</span></div>", escaped(value), escaped(label));
}

std::string bar_row(std::string_view name, double share, const std::string& value, std::string_view style = "") {
    return fmt::format(
        "<div class='row {}'><span class=name>{}</span><span class=track><i style='width:{:.2f}%'></i></span>"
        "<span class=value>{}</span></div>",
        style, escaped(name), 100 * std::clamp(share, 0.0, 1.0), escaped(value));
}

std::string dimensions(const device::Dim3& three) {
    if (three.y == 1 && three.z == 1) return fmt::format("{}", three.x);
    return fmt::format("{} x {} x {}", three.x, three.y, three.z);
}

std::string table_row(std::string_view name, const std::string& value) {
    return fmt::format("<tr><th scope=row>{}</th><td>{}</td></tr>", escaped(name), escaped(value));
}

}  // namespace

std::string quantity(double value, std::string_view unit) {
    constexpr const char* kPrefixes[] = {"", "k", "M", "G", "T", "P"};
    std::size_t at = 0;
    while (std::abs(value) >= 999.5 && at + 1 < std::size(kPrefixes)) value /= 1000, ++at;
    return fmt::format("{:.3g} {}{}", value, kPrefixes[at], unit);
}

std::string percent(double share) {
    const double value = 100 * share;
    if (value > 0 && value < 0.1) return "below 0.1%";
    return value < 10 && value > 0 ? fmt::format("{:.1f}%", value) : fmt::format("{:.0f}%", value);
}

std::string time_finding(const Answer& a) {
    if (!a.limiter || a.limiter->bounds.empty()) return {};
    const auto& first = a.limiter->bounds.front();
    const bool waits = a.limiter->latency_cycles > first.cycles;
    const double next = waits ? first.cycles
                        : a.limiter->bounds.size() > 1
                            ? std::max(a.limiter->bounds[1].cycles, a.limiter->latency_cycles)
                            : a.limiter->latency_cycles;
    const auto name = waits ? std::string("Latency") : first.resource;
    const double alone = waits ? a.limiter->latency_cycles : first.cycles;
    if (a.time.cycles <= 0) return {};
    return fmt::format("{} alone would take {} of the time{}", name, percent(alone / a.time.cycles),
                       next > 0 ? fmt::format(", the next limit {}", percent(next / a.time.cycles)) : "");
}

std::string cards(const Answer& a) {
    std::string out = "<div class=cards>";
    out += card(fmt::format("{:.4g} us", a.time.microseconds),
                fmt::format("{:.0f} cycles, {}, {} caches", a.time.cycles,
                            a.method == answer::Method::predict ? "predicted" : "simulated", name_of(a.caches)));
    if (const auto& interval = a.time.interval)
        out += card(fmt::format("{:.4g} to {:.4g} us", a.time.microseconds * interval->low / a.time.cycles,
                                a.time.microseconds * interval->high / a.time.cycles),
                    "holds 90% of the measured times of other kernels");
    if (a.limiter) out += card(a.limiter->resource, "limits it");
    if (a.occupancy)
        out += card(
            fmt::format("{:.3g}{} warps", a.occupancy->warps_per_sm,
                        a.occupancy->max_warps_per_sm > 0 ? fmt::format(" of {}", a.occupancy->max_warps_per_sm) : ""),
            fmt::format("of an SM, limited by {}", a.occupancy->limited_by));
    if (a.time.warm_cycles)
        out += card(fmt::format("{:.4g} us", *a.time.warm_cycles * a.time.microseconds / a.time.cycles),
                    "with warm caches");
    if (a.advice && !a.advice->empty())
        out += card(fmt::format("{:.2f} times as fast", a.advice->front().factor), a.advice->front().change);
    return out + "</div>";
}

std::string time_bar(const Answer& a) {
    if (!a.limiter || a.limiter->parts.empty()) return {};
    const double most = std::max(a.time.cycles, a.time.interval ? a.time.interval->high : 0);
    std::string bar = "<div class=timebar>", key;
    for (std::size_t i = 0; i < a.limiter->parts.size(); ++i) {
        const auto& part = a.limiter->parts[i];
        bar += fmt::format("<i class=p{} style='width:{:.2f}%' title='{}: {:.0f} cycles'></i>", i,
                           100 * part.cycles / most, escaped(part.what), part.cycles);
        key += fmt::format("<li><i class=p{}></i>{:.0f}% {}</li>", i, 100 * part.cycles / a.time.cycles,
                           escaped(part.what));
    }
    if (const auto& interval = a.time.interval)
        bar += fmt::format("<b style='left:{:.2f}%;width:{:.2f}%' title='90% interval'></b>",
                           100 * interval->low / most, 100 * (interval->high - interval->low) / most);
    return bar + "</div><ul class=key>" + key +
           (a.time.interval ? fmt::format("<li><b></b>90% interval: {}</li>", escaped(a.time.interval->basis)) : "") +
           "</ul>";
}

std::string bounds(const Answer& a) {
    if (!a.limiter) return {};
    std::vector<std::pair<std::string, double>> rows{{"the launch", a.time.cycles}};
    for (const auto& bound : a.limiter->bounds) rows.emplace_back(bound.resource, bound.cycles);
    rows.emplace_back("latency", a.limiter->latency_cycles);
    std::ranges::stable_sort(rows.begin() + 1, rows.end(), std::ranges::greater(),
                             &std::pair<std::string, double>::second);
    double most = 0;
    for (const auto& [name, cycles] : rows) most = std::max(most, cycles);
    std::string out =
        "<p class=m>Cycles that the launch would take if one resource alone limited it.</p><div class=bars>";
    for (const auto& [name, cycles] : rows)
        if (cycles >= kShownBar * most)
            out += bar_row(name, cycles / most, fmt::format("{:.0f}", cycles), name == "the launch" ? "whole" : "");
    return out + "</div>";
}

std::string advice(const Answer& a, std::size_t most) {
    if (!a.advice) return {};
    if (a.advice->empty()) return "<p>No change that was tried makes it faster by 5%.</p>";
    std::string out = "<ol class=advice>";
    for (std::size_t i = 0; i < std::min(most, a.advice->size()); ++i) {
        const auto& one = (*a.advice)[i];
        out += fmt::format("<li><b>{:.2f} times as fast</b> {}", one.factor, escaped(one.change));
        for (const auto& instruction : one.instructions)
            out += fmt::format("<br><code>{}</code>{}", escaped(instruction.text),
                               instruction.source ? " " + escaped(short_text(*instruction.source)) : "");
        out += "</li>";
    }
    return out + "</ol>";
}

std::string rates(const Answer& a) {
    std::string out;
    const auto add = [&](const answer::Rate& rate, std::string_view unit) {
        if (rate.per_second <= 0) return;
        const double share = rate.ceiling ? rate.per_second / *rate.ceiling : 0;
        out += bar_row(rate.what, share,
                       quantity(rate.per_second, unit) +
                           (rate.ceiling ? fmt::format(", {} of {}", percent(share), quantity(*rate.ceiling, unit))
                                         : ", no ceiling described"));
    };
    for (const auto& rate : a.flop_rates) add(rate, "FLOP/s");
    for (const auto& rate : a.byte_rates) add(rate, "B/s");
    return out.empty() ? out : "<div class=bars>" + out + "</div>";
}

std::string occupancy(const Answer& a) {
    std::string out = "<table class=facts><tbody>";
    out += table_row("grid",
                     fmt::format("{} blocks of {} threads", dimensions(a.launch.grid), dimensions(a.launch.block)));
    if (a.launch.registers_per_thread)
        out += table_row("registers", fmt::format("{} of a thread", *a.launch.registers_per_thread));
    if (a.launch.shared_bytes)
        out += table_row("shared memory", fmt::format("{} bytes of a block", *a.launch.shared_bytes));
    if (const auto& occupancy = a.occupancy) {
        out += table_row("occupancy",
                         fmt::format("{:.0f} blocks of an SM at once, {:.0f} warps; limited by {}",
                                     occupancy->blocks_per_sm, occupancy->warps_per_sm, occupancy->limited_by));
        if (occupancy->achieved_warps_per_sm)
            out += table_row("achieved",
                             fmt::format("{:.1f} warps of an SM in the mean", *occupancy->achieved_warps_per_sm));
        if (occupancy->needed_warps)
            out += table_row("needed",
                             fmt::format("{:.1f} warps of an SM, for latency not to limit", *occupancy->needed_warps));
        out += table_row("waves", fmt::format("{:.3g}", occupancy->waves));
    }
    if (const auto tail = a.occupancy ? a.occupancy->tail_share : std::nullopt; tail && *tail > 0)
        out += table_row("last wave", fmt::format("leaves {} of the places for blocks empty", percent(*tail)));
    out += table_row("instructions", fmt::format("{} of warps, {} of threads", quantity(a.work.warp_instructions, ""),
                                                 quantity(a.work.thread_instructions, "")));
    if (a.work.bank_conflict_cycles && *a.work.bank_conflict_cycles > 0)
        out += table_row("bank conflicts", fmt::format("{} cycles{}", quantity(*a.work.bank_conflict_cycles, ""),
                                                       a.work.shared_time_ratio
                                                           ? fmt::format("; shared memory takes {:.3g} times as long",
                                                                         *a.work.shared_time_ratio)
                                                           : ""));
    if (a.work.divergent_branches && *a.work.divergent_branches > 0)
        out += table_row("divergent branches", quantity(*a.work.divergent_branches, ""));
    out += table_row("coverage", fmt::format("{} of {} blocks executed, {} with timing", a.coverage.executed_blocks,
                                             a.coverage.blocks, a.coverage.timed_blocks));
    return out + "</tbody></table>";
}

std::string sensitivity(const Answer& a) {
    if (!a.sensitivity) return {};
    if (a.sensitivity->empty()) return "<p>No single value changes the time notably.</p>";
    double most = 0;
    for (const auto& one : *a.sensitivity) most = std::max(most, std::abs(one.elasticity));
    std::string out = fmt::format(
        "<p class=finding>{}</p><p class=m>Change of the time where a value is {:.0f}% larger.</p>"
        "<div class=bars>",
        escaped(fmt::format("It depends most on {}", a.sensitivity->front().path)), 100 * answer::kSensitivityStep);
    for (const auto& one : *a.sensitivity)
        out += bar_row(
            one.path, most > 0 ? std::abs(one.elasticity) / most : 0,
            fmt::format("{:+.1f}%; {}, {}", 100 * (one.larger_cycles / a.time.cycles - 1), one.value, one.evidence));
    return out + "</div>";
}

std::string differences(const Answer& a) {
    if (!a.differences) return {};
    if (a.differences->empty()) return "<p>All of it is as the recorded GPU left it.</p>";
    return fmt::format(
        "<div class=warn>{} buffer{} from what the recorded GPU left. The text and the JSON of this "
        "answer list each place.</div>",
        a.differences->size(), a.differences->size() == 1 ? " differs" : "s differ");
}

std::string warnings(const Answer& a) {
    std::string out;
    for (const auto& warning : a.warnings) out += fmt::format("<div class=warn>{}</div>", escaped(warning));
    return out;
}

std::string assumptions(const Answer& a, const PageContext& context) {
    std::string out;
    for (const auto& [title, list] :
         {std::pair("of the launch", &a.assumptions), std::pair("of the GPU", &context.assumed_of_gpu)}) {
        if (list->empty()) continue;
        out += fmt::format("<details><summary>{} {}</summary><ul>", list->size(), title);
        for (const auto& one : *list) out += fmt::format("<li>{}</li>", escaped(one));
        out += "</ul></details>";
    }
    return out;
}

}  // namespace gputomo::pages
