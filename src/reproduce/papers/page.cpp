// Writes a reproduction as an HTML page: the published values beside the reproduced ones, by table and figure.
#include "report/parts/start.hpp"
#include "report/parts/text.hpp"
#include "reproduce/papers/agreement.hpp"
#include "reproduce/papers/page_style.hpp"
#include "reproduce/papers/reproduce.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <vector>

namespace gputomo::reproduce {
namespace {

using report::escaped;

/// The table or figure that an entry is listed under: Table V for "Table V / Section IV-H1".
std::string group_of(const Entry& entry) {
    const auto slash = entry.where.find(" / ");
    return entry.where.substr(0, slash);
}

std::string mark(const Row& row) {
    if (row.agrees) return "<td class=yes>&#10003; agrees";
    return row.reproduced.is_null() ? "<td class=no>not measured" : "<td class=no>&#10007; differs";
}

/// The expression as code; a long one is folded away.
std::string expression_html(const std::string& expression) {
    constexpr std::size_t kLong = 120;
    const auto code = fmt::format("<code>{}</code>", escaped(expression));
    return expression.size() > kLong ? fmt::format("<details><summary>computed from traces</summary>{}</details>", code)
                                     : code;
}

/// The expression behind the value, and the explanation of a difference.
std::string how(const Row& row) {
    const auto& recipe = *row.entry->recipe;
    std::string text = expression_html(recipe.expression.text());
    const auto add = [&](const std::string& sentence) {
        if (!sentence.empty()) text += fmt::format("<br>{}", escaped(sentence));
    };
    add(row.why);
    add(recipe.remark);
    if (!row.agrees && recipe.remark.empty() && row.entry->note.empty()) add("No explanation is recorded.");
    if (recipe.tolerance > 0) add(fmt::format("agrees within {:.3g}%", 100 * recipe.tolerance));
    if (!row.entry->note.empty()) add(fmt::format("Paper: {}", row.entry->note));
    return text;
}

std::string with_unit(const Json& value, const std::string& unit) {
    return escaped(unit.empty() ? text_of(value) : text_of(value) + " " + unit);
}

std::string row_html(const Row& row, bool several_gpus) {
    const auto& entry = *row.entry;
    std::string published = with_unit(entry.value, entry.unit);
    if (!entry.recipe->expected.is_null())
        published += fmt::format("<br><small>here: {}</small>", escaped(text_of(entry.recipe->expected)));
    return fmt::format("<tr id='{0}{6}'{8}><td class=w>{1}{7}<td>{2}<td class=v>{3}{4}<td class=m>{5}",
                       escaped(entry.id), escaped(entry.quantity), published,
                       with_unit(row.reproduced, row.reproduced.is_null() ? "" : entry.unit), mark(row), how(row),
                       several_gpus ? fmt::format("@{}", escaped(row.gpu)) : std::string(),
                       several_gpus ? fmt::format("<br><small>{}</small>", escaped(row.gpu)) : std::string(),
                       row.agrees ? " class=agreeing" : "");
}

/// The rows of one table or figure.
struct Group {
    std::string where;
    std::vector<const Row*> rows;

    [[nodiscard]] std::size_t agreeing() const {
        return static_cast<std::size_t>(
            std::count_if(rows.begin(), rows.end(), [](const Row* row) { return row->agrees; }));
    }
    [[nodiscard]] std::string id() const { return report::anchor("from", where); }
};

/// The groups in the order in which the paper has them.
std::vector<Group> groups_of(const Reproduction& reproduction) {
    std::vector<Group> groups;
    for (const auto& row : reproduction.rows) {
        const auto where = group_of(*row.entry);
        auto group = std::find_if(groups.begin(), groups.end(), [&](const Group& g) { return g.where == where; });
        if (group == groups.end()) group = groups.insert(groups.end(), Group{where, {}});
        group->rows.push_back(&row);
    }
    return groups;
}

/// A table with the share of agreeing values of each table and figure.
std::string overview(const std::vector<Group>& groups) {
    std::string out =
        "<div class=scroll><table class=overview><thead><tr><th>table or figure<th>agree<th>share</thead><tbody>";
    for (const auto& group : groups)
        out += fmt::format(
            "<tr><th scope=row><a href='#{}'>{}</a></th><td class=c>{} of {}<td><div class=rest><i class=share "
            "style='width:{:.0f}%'></i></div>",
            group.id(), escaped(group.where), group.agreeing(), group.rows.size(),
            100.0 * static_cast<double>(group.agreeing()) / static_cast<double>(group.rows.size()));
    return out + "</tbody></table></div>";
}

/// The rows, under the table or figure that they come from.
std::string sections(const Reproduction& reproduction, const std::vector<Group>& groups) {
    const bool several = std::any_of(reproduction.rows.begin(), reproduction.rows.end(),
                                     [&](const Row& row) { return row.gpu != reproduction.rows.front().gpu; });
    std::string out;
    for (const auto& group : groups) {
        const bool all = group.agreeing() == group.rows.size();
        out += fmt::format(
            "<div{}><h2 id='{}'>{}: {} of {} agree</h2><div class=scroll><table "
            "class=rows><thead><tr><th>quantity<th>published<th>reproduced<th>agreement<th>how</thead><tbody>",
            all ? " class=agreeing" : "", group.id(), escaped(group.where), group.agreeing(), group.rows.size());
        for (const auto* row : group.rows) out += row_html(*row, several);
        out += "</tbody></table></div></div>";
    }
    return out;
}

std::string reasons(const Reproduction& reproduction) {
    if (reproduction.not_reproducible.empty()) return {};
    std::string out =
        "<h2 id=not-reproducible>Not reproducible</h2><div "
        "class=scroll><table><thead><tr><th>where<th>quantity<th>published<th>why not</thead><tbody>";
    for (const auto* entry : reproduction.not_reproducible)
        out +=
            fmt::format("<tr><td>{}<td class=w>{}<td>{}<td class=m>{}", escaped(entry->where), escaped(entry->quantity),
                        with_unit(entry->value, entry->unit), escaped(entry->not_reproducible));
    return out + "</tbody></table></div>";
}

std::string discrepancies(const Paper& paper) {
    if (paper.discrepancies.empty()) return {};
    std::string out =
        "<h2>Where the paper contradicts itself or another</h2><div "
        "class=scroll><table><thead><tr><th>where<th>contradiction<th>readings<th>reading taken here</thead><tbody>";
    for (const auto& found : paper.discrepancies)
        out += fmt::format("<tr><td>{}<td class=w>{}<td>{}<td>{}", escaped(found.where), escaped(found.issue),
                           escaped(text_of(found.readings)), escaped(found.suggestion));
    return out + "</tbody></table></div>";
}

}  // namespace

std::string results_page(const Reproduction& reproduction) {
    const auto& paper = *reproduction.paper;
    std::string out = report::page_start(paper.title) + fmt::format("<style>{}</style>", papers_css());
    out += fmt::format("<nav><a href='index.html'>All papers</a></nav><p>{}. {}, {}.</p>",
                       escaped(fmt::format("{}", fmt::join(paper.authors, ", "))), escaped(paper.venue), paper.year);
    out += fmt::format("<div class=cards><div class=card><b>{} of {}</b><span>published values agree</span></div>",
                       reproduction.agreeing(), reproduction.rows.size());
    if (const auto count = reproduction.not_reproducible.size(); count > 0)
        out +=
            fmt::format("<a class=card href='#not-reproducible'><b>{}</b><span>cannot be reproduced</span></a>", count);
    out += "</div>";
    out += "<p>Each value was measured again on a simulated GPU by experiments that know nothing of the GPU.";
    if (const auto models = reproduction.model_rows(); models > 0)
        out += fmt::format(" {} of the rows compare built-in models with the paper's equations and examples.", models);
    out += "</p>";
    for (const auto& warning : reproduction.warnings) out += fmt::format("<div class=warn>{}</div>", escaped(warning));
    const auto groups = groups_of(reproduction);
    out += overview(groups) +
           "<label class=only><input type=checkbox id=differences> Only values that do not agree</label>";
    return out + sections(reproduction, groups) + reasons(reproduction) + discrepancies(paper) + "</html>\n";
}

}  // namespace gputomo::reproduce
