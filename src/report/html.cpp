#include "report/html.hpp"

#include "report/cards.hpp"
#include "report/compare/page.hpp"
#include "report/parts/start.hpp"
#include "report/picture.hpp"
#include "report/plot/element.hpp"
#include "report/sections.hpp"
#include "report/uncertain.hpp"

#include <fmt/format.h>

namespace gputomo::report {
namespace {

/// Widths of the picture in SVG units, which are about pixels: on a wide page and on a phone.
constexpr double kWide = 800, kNarrow = 340;

std::string first_screen(const machine::Machine& machine, const Facts& facts, const Page& page) {
    return fmt::format(
        "<div class=first><div><div class=wide>{}</div><div class=narrow>{}</div><p class=m>A latency is that of a "
        "load "
        "from the SM that is served there. Dashed boxes have undecided values and show what is still possible. Each "
        "box links to its section.</p></div><div "
        "class=beside>{}{}</div></div>",
        picture(machine, facts, page.traces, kWide), picture(machine, facts, page.traces, kNarrow),
        cards(facts, machine, page), uncertain(facts, page));
}

/// When, by what and on which GPU the values were measured; empty for a description that does not say.
std::string measured(const machine::Machine& machine) {
    if (!machine.origin) return {};
    return fmt::format("<p class=m>Measured {}: <code>{}</code></p>", escaped(results::summary(*machine.origin)),
                       escaped(machine.origin->command));
}

/// The menu and the search, which stay in view.
std::string bar(const std::string& links) {
    return fmt::format(
        "<header class=bar>{}<div class=finder><input type=search id=search hidden aria-label='Search all values' "
        "autocomplete=off><div id=found hidden></div></div></header>",
        links);
}

}  // namespace

std::string html(const machine::Machine& machine, const Page& page) {
    const Facts facts(machine);
    const auto earlier =
        page.earlier ? differences({page.device, &machine}, {page.earlier->name, &page.earlier->machine}) : "";
    const auto body = sections(machine, facts, page);
    return page_head(page.device) + "<body class=report>" + fmt::format("<h1>{}</h1>", escaped(page.device)) +
           bar(contents(facts, page, !earlier.empty())) + first_screen(machine, facts, page) + earlier + body +
           measured(machine) + plot_scripts(body) + fmt::format("<script>{}</script>", page_script()) +
           "</body></html>\n";
}

}  // namespace gputomo::report
