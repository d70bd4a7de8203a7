#include "report/html.hpp"

#include "report/compare/page.hpp"
#include "report/parts/quantities.hpp"
#include "report/parts/start.hpp"
#include "report/picture.hpp"
#include "report/plot/element.hpp"
#include "report/sections.hpp"

#include <fmt/format.h>

#include <cmath>
#include <optional>

namespace gputomo::report {
namespace {

/// Widths of the picture in SVG units, which are about pixels: on a wide page and on a phone.
constexpr double kWide = 800, kNarrow = 340;

/// A note with the value of the earlier GPU; empty where it has none.
std::string before(std::string_view path, const Facts* earlier) {
    const auto text = earlier == nullptr ? std::string() : earlier->text(path);
    return text.empty() ? text : fmt::format("<small>was {}</small>", escaped(text));
}

/// A note on how many warps an SM holds, where more would be needed.
std::string limit_of_warps(const Facts& facts, double warps) {
    const auto threads = facts.number("topology.max_threads_per_sm"), warp = facts.number("topology.warp_size");
    if (!threads || !warp || *warp <= 0 || warps <= *threads / *warp) return {};
    return fmt::format("; an SM holds only {:.0f}, so threads need several loads in flight, or wider loads",
                       *threads / *warp);
}

std::string warps_card(const Facts& facts, const Facts* earlier) {
    const auto warps = warps_for_memory(facts), was = earlier == nullptr ? std::nullopt : warps_for_memory(*earlier);
    if (!warps) return {};
    return fmt::format(
        "<a class='card long' href='#{}'><b>{:.0f} warps</b><span>per SM hide DRAM latency at full bandwidth, each "
        "with one 4-byte load per thread in flight "
        "(Little's law){}</span>{}</a>",
        anchor("leaf", "paths.global.memory_latency"), std::ceil(*warps), limit_of_warps(facts, std::ceil(*warps)),
        was ? fmt::format("<small>was {:.0f} warps</small>", std::ceil(*was)) : "");
}

std::string cards(const Facts& facts, const Page& page) {
    const auto earlier = page.earlier ? std::optional(Facts(page.earlier->machine)) : std::nullopt;
    const auto* was = earlier ? &*earlier : nullptr;
    std::string out = "<div class=cards>" + warps_card(facts, was);
    for (const auto& headline : headlines())
        if (const auto* leaf = facts.find(headline.path);
            leaf != nullptr && (headline.path != kGlobalCaches || leaf_text(*leaf) == "none"))
            out += fmt::format("<a class=card href='#{}'><b>{}</b><span>{}</span>{}</a>", anchor("leaf", headline.path),
                               escaped(leaf_text(*leaf)), headline.label, before(headline.path, was));
    return out + "</div>" +
           (was == nullptr ? ""
                           : fmt::format("<p class=m>was: on the {}, a GPU of the generation before</p>",
                                         escaped(page.earlier->name)));
}

std::string warnings(const Page& page) {
    std::string out = page.warnings.empty() ? "" : "<p class=m>Undecided, or failed:</p>";
    constexpr std::size_t kInView = 4;
    for (std::size_t i = 0; i < page.warnings.size(); ++i) {
        if (i == kInView)
            out += fmt::format("<details class=warns><summary>{} more</summary>", page.warnings.size() - i);
        out += fmt::format("<div class=warn>{}</div>", escaped(page.warnings[i]));
    }
    return page.warnings.size() > kInView ? out + "</details>" : out;
}

std::string first_screen(const machine::Machine& machine, const Facts& facts, const Page& page) {
    return fmt::format(
        "<div class=first><div><div class=wide>{}</div><div class=narrow>{}</div><p class=m>A latency is that of a "
        "load "
        "from the SM that is served there. Dashed boxes have undecided values and show what is still possible. Each "
        "box links to its section.</p></div><div "
        "class=beside>{}{}</div></div>",
        picture(machine, facts, kWide), picture(machine, facts, kNarrow), cards(facts, page), warnings(page));
}

/// When, by what and on which GPU the values were measured; empty for a description that does not say.
std::string measured(const machine::Machine& machine) {
    if (!machine.origin) return {};
    return fmt::format("<p class=m>Measured {}: <code>{}</code></p>", escaped(results::summary(*machine.origin)),
                       escaped(machine.origin->command));
}

}  // namespace

std::string html(const machine::Machine& machine, const Page& page) {
    const Facts facts(machine);
    const auto earlier =
        page.earlier ? differences({page.device, &machine}, {page.earlier->name, &page.earlier->machine}) : "";
    const auto body = sections(facts, page);
    return page_start(page.device) + contents(facts, page, !earlier.empty()) + first_screen(machine, facts, page) +
           earlier + body + measured(machine) + plot_scripts(body) + "</html>\n";
}

}  // namespace gputomo::report
