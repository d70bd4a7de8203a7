// The code of a page: what warps wait for, in all, by line and by instruction.
#include "pages/parts.hpp"
#include "report/parts/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

namespace gputomo::pages {
namespace {

using answer::Answer;
using report::escaped;

/// Reasons, and lines, with less than this share are not shown.
constexpr double kShown = 0.01, kLeastLine = 0.0005;

double share_of(const costs::StallCycles& cycles, costs::Stall stall, double all) {
    return all > 0 ? cycles[static_cast<std::size_t>(stall)] / all : 0;
}

/// A bar whose parts are reasons, as long as `share` of the longest one.
std::string stacked(const costs::StallCycles& cycles, double share) {
    const double all = costs::sum_of(cycles);
    std::string out = fmt::format("<span class=track><span class=stack style='width:{:.2f}%'>", 100 * share);
    for (const auto stall : answer::by_cycles(cycles))
        out += fmt::format("<i class={} style='flex:{:.4f}' title='{}: {:.0f}%'></i>", stall_class(stall),
                           share_of(cycles, stall, all), name_of(stall), 100 * share_of(cycles, stall, all));
    return out + "</span></span>";
}

std::string reasons(const costs::StallCycles& cycles) {
    constexpr double kNamed = 0.15;
    const double all = costs::sum_of(cycles);
    std::string out;
    for (const auto stall : answer::by_cycles(cycles))
        if (const double share = share_of(cycles, stall, all); share >= kNamed)
            out += fmt::format("{}{} {:.0f}%", out.empty() ? "" : ", ", name_of(stall), 100 * share);
    return out;
}

std::string instruction_row(const answer::Instruction& one, double most) {
    return fmt::format(
        "<tr><td class=n>{:.1f}%</td><td class=b>{}</td><td class=n>{}</td><td><code>{}</code><small>{}{}</small></td>"
        "</tr>",
        100 * one.share_of_wait, stacked(one.cycles, most > 0 ? one.share_of_wait / most : 0),
        quantity(one.executed, ""), escaped(one.text), escaped(reasons(one.cycles)),
        one.source ? " &middot; " + escaped(short_text(*one.source)) : "");
}

constexpr const char* kTableStart =
    "<table class=code><thead><tr><th>cycles</th><th></th><th>executed</th><th>{}</th></tr></thead><tbody>";

}  // namespace

std::string_view stall_class(costs::Stall stall) {
    using costs::Stall;
    switch (stall) {
        case Stall::selected: return "issue";
        case Stall::wait:
        case Stall::branch_resolving: return "fixed";
        case Stall::long_scoreboard:
        case Stall::membar: return "far";
        case Stall::short_scoreboard: return "near";
        case Stall::barrier:
        case Stall::sleeping: return "meet";
        case Stall::lg_throttle:
        case Stall::mio_throttle:
        case Stall::tex_throttle:
        case Stall::math_pipe_throttle:
        case Stall::gmma: return "busy";
        case Stall::not_selected:
        case Stall::dispatch_stall: return "turn";
        case Stall::no_instructions: return "code-miss";
    }
    return "busy";
}

std::string stall_finding(const Answer& a) {
    const auto cycles = answer::stalls_of(a.instructions);
    const auto main = answer::main_stall(cycles);
    const double all = costs::sum_of(cycles);
    if (!main || all <= 0) return {};
    return fmt::format("A warp spends {} of its cycles on {}: {}", percent(share_of(cycles, *main, all)),
                       name_of(*main), meaning_of(*main));
}

std::string instruction_finding(const Answer& a) {
    const auto first = answer::costliest(a.instructions, 1);
    if (first.empty() || first.front()->share_of_wait <= 0) return {};
    const auto& one = *first.front();
    auto out = fmt::format("{} of the cycles pass at {}", percent(one.share_of_wait), one.text);
    if (one.source) out += fmt::format(", {}", short_text(*one.source));
    if (!one.waits_for) return out;
    const auto awaited = std::ranges::lower_bound(a.instructions, *one.waits_for, {}, &answer::Instruction::address);
    if (awaited != a.instructions.end() && awaited->address == *one.waits_for && awaited->address != one.address)
        out += fmt::format(", which waits for {}", awaited->text);
    return out;
}

std::string stalls(const Answer& a, bool explained) {
    if (a.instructions.empty()) return {};
    const auto cycles = answer::stalls_of(a.instructions);
    const double all = costs::sum_of(cycles);
    const auto order = answer::by_cycles(cycles);
    if (order.empty()) return {};
    const double most = share_of(cycles, order.front(), all);
    std::string out = explained ? "<p class=m>Cycles of all warps by the reasons of Nsight Compute.</p>" : "";
    out += "<div class='bars stalls'>";
    for (const auto stall : order) {
        const double share = share_of(cycles, stall, all);
        if (share < kShown) continue;
        out += fmt::format(
            "<div class=row><span class=name>{}</span><span class=track><i class={} style='width:{:.2f}%'></i></span>"
            "<span class=value>{:.1f}%{}</span></div>",
            name_of(stall), stall_class(stall), 100 * share / most, 100 * share,
            explained ? fmt::format(" <small>{}</small>", escaped(meaning_of(stall))) : "");
    }
    return out + "</div>";
}

std::string lines(const Answer& a) {
    const auto rows = answer::lines_of(a.instructions);
    if (rows.empty()) return {};
    std::string out = fmt::format(fmt::runtime(kTableStart), "line");
    for (std::size_t i = 0; i < std::min(rows.size(), answer::kShownInstructions); ++i) {
        const auto& row = rows[i];
        if (row.share_of_wait < kLeastLine) break;
        out += fmt::format(
            "<tr><td class=n>{:.1f}%</td><td class=b>{}</td><td class=n>{}</td><td "
            "title='{}'><code>{}</code><small>{}</small></td></tr>",
            100 * row.share_of_wait, stacked(row.cycles, row.share_of_wait / rows.front().share_of_wait),
            quantity(row.executed, ""), escaped(row.at.file), escaped(sass::short_text({.at = row.at, .callers = {}})),
            escaped(reasons(row.cycles)));
    }
    return out + "</tbody></table>";
}

std::string instructions(const Answer& a) {
    const auto hottest = answer::costliest(a.instructions);
    if (hottest.empty()) return {};
    const double most = hottest.front()->share_of_wait;
    std::string out = fmt::format(fmt::runtime(kTableStart), "instruction");
    for (const auto* const one : hottest) out += instruction_row(*one, most);
    out +=
        fmt::format("</tbody></table><details><summary>All {} instructions in order</summary>", a.instructions.size());
    out += fmt::format(fmt::runtime(kTableStart), "instruction");
    for (const auto& one : a.instructions) out += instruction_row(one, most);
    return out + "</tbody></table></details>";
}

}  // namespace gputomo::pages
