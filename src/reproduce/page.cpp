// A reproduction as an HTML page: table by table and figure by figure, published beside reproduced.
#include "report/html.hpp"
#include "reproduce/agreement.hpp"
#include "reproduce/reproduce.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

namespace gputomo::reproduce {
namespace {

using report::escaped;

constexpr std::string_view kPageStyle = "<style>.yes{color:#1d7f3f}.no{color:#c0392b}td.w{min-width:14rem}@media(prefers-color-scheme:dark){.yes{color:#63c787}.no{color:#ff8a75}}</style>";

/// "Table V / Section IV-H1" belongs to Table V.
std::string group_of(const Entry& entry) {
    const auto slash = entry.where.find(" / ");
    return entry.where.substr(0, slash);
}

std::string mark(const Row& row) {
    if (row.agrees) return "<td class=yes>&#10003; agrees";
    return row.reproduced.is_null() ? "<td class=no>not measured" : "<td class=no>&#10007; differs";
}

/// Where the value comes from, and what explains a difference.
std::string how(const Row& row) {
    const auto& recipe = *row.entry->recipe;
    std::string text = fmt::format("<code>{}</code>", escaped(recipe.expression.text()));
    const auto add = [&](const std::string& sentence) {
        if (!sentence.empty()) text += fmt::format("<br>{}", escaped(sentence));
    };
    add(row.why);
    add(recipe.remark);
    if (recipe.tolerance > 0) add(fmt::format("agrees within {:.3g}%", 100 * recipe.tolerance));
    if (!row.entry->note.empty()) add(fmt::format("Paper: {}", row.entry->note));
    return text;
}

std::string with_unit(const Json& value, const std::string& unit) { return escaped(unit.empty() ? text_of(value) : text_of(value) + " " + unit); }

std::string row_html(const Row& row, bool several_gpus) {
    const auto& entry = *row.entry;
    std::string published = with_unit(entry.value, entry.unit);
    if (!entry.recipe->expected.is_null()) published += fmt::format("<br><small>here: {}</small>", escaped(text_of(entry.recipe->expected)));
    return fmt::format("<tr id='{0}{6}'><td class=w>{1}{7}<td>{2}<td class=v>{3}{4}<td class=m>{5}", escaped(entry.id), escaped(entry.quantity), published,
                       with_unit(row.reproduced, row.reproduced.is_null() ? "" : entry.unit), mark(row), how(row), several_gpus ? fmt::format("@{}", escaped(row.gpu)) : std::string(),
                       several_gpus ? fmt::format("<br><small>{}</small>", escaped(row.gpu)) : std::string());
}

/// Rows under the table or figure that they are from, in the order of the paper.
std::string sections(const Reproduction& reproduction) {
    std::vector<std::string> order;
    std::map<std::string, std::vector<const Row*>> groups;
    for (const auto& row : reproduction.rows) {
        const auto group = group_of(*row.entry);
        if (groups[group].empty()) order.push_back(group);
        groups[group].push_back(&row);
    }
    const bool several = std::any_of(reproduction.rows.begin(), reproduction.rows.end(), [&](const Row& row) { return row.gpu != reproduction.rows.front().gpu; });
    std::string out;
    for (const auto& group : order) {
        const auto& rows = groups[group];
        const auto agreeing = std::count_if(rows.begin(), rows.end(), [](const Row* row) { return row->agrees; });
        out += fmt::format("<h2>{}: {} of {} agree</h2><div class=scroll><table><tr><th>quantity<th>published<th>reproduced<th>agreement<th>how", escaped(group), agreeing, rows.size());
        for (const auto* row : rows) out += row_html(*row, several);
        out += "</table></div>";
    }
    return out;
}

std::string reasons(const Reproduction& reproduction) {
    if (reproduction.not_reproducible.empty()) return {};
    std::string out = "<h2>Not reproducible</h2><div class=scroll><table><tr><th>where<th>quantity<th>published<th>why not";
    for (const auto* entry : reproduction.not_reproducible)
        out += fmt::format("<tr><td>{}<td class=w>{}<td>{}<td class=m>{}", escaped(entry->where), escaped(entry->quantity), with_unit(entry->value, entry->unit), escaped(entry->not_reproducible));
    return out + "</table></div>";
}

std::string discrepancies(const Paper& paper) {
    if (paper.discrepancies.empty()) return {};
    std::string out = "<h2>Where the paper contradicts itself or another</h2><div class=scroll><table><tr><th>where<th>what<th>readings<th>taken here";
    for (const auto& found : paper.discrepancies)
        out += fmt::format("<tr><td>{}<td class=w>{}<td>{}<td>{}", escaped(found.where), escaped(found.issue), escaped(text_of(found.readings)), escaped(found.suggestion));
    return out + "</table></div>";
}

}  // namespace

std::string results_page(const Reproduction& reproduction) {
    const auto& paper = *reproduction.paper;
    std::string out = report::page_start(paper.title) + std::string(kPageStyle);
    out += fmt::format("<p>{}. {}, {}.</p>", escaped(fmt::format("{}", fmt::join(paper.authors, ", "))), escaped(paper.venue), paper.year);
    out += fmt::format("<div class=cards><div class=card><b>{} of {}</b><span>published values agree</span></div><div class=card><b>{}</b><span>cannot be reproduced</span></div></div>",
                       reproduction.agreeing(), reproduction.rows.size(), reproduction.not_reproducible.size());
    out += "<p>Each value was measured again by experiments that know nothing of the GPU, on a simulated GPU. Of the rows, " +
           fmt::format("{}", reproduction.of_models()) + " hold built-in models against the paper's equations and examples.</p>";
    for (const auto& warning : reproduction.warnings) out += fmt::format("<div class=warn>{}</div>", escaped(warning));
    return out + sections(reproduction) + reasons(reproduction) + discrepancies(paper) + "</html>\n";
}

}  // namespace gputomo::reproduce
