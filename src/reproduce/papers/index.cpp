#include "reproduce/papers/index.hpp"

#include "report/parts/start.hpp"
#include "report/parts/text.hpp"
#include "reproduce/papers/page_style.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace gputomo::reproduce {
namespace {

using report::escaped;

const Entry* entry_of(const Paper& paper, const std::string& id) {
    const auto found =
        std::find_if(paper.entries.begin(), paper.entries.end(), [&](const Entry& entry) { return entry.id == id; });
    return found == paper.entries.end() ? nullptr : &*found;
}

/// The explanation of a difference: why the value was not measured, the recipe's remark, and the paper's note.
std::string explanation(const Json& row, const Paper& paper) {
    std::vector<std::string> parts;
    for (const char* field : {"why", "remark"})
        if (row.contains(field)) parts.push_back(escaped(row[field].get<std::string>()));
    const auto* entry = entry_of(paper, row.at("id").get<std::string>());
    if (entry != nullptr && !entry->note.empty()) parts.push_back(fmt::format("Paper: {}", escaped(entry->note)));
    return parts.empty() ? "No explanation is recorded." : fmt::format("{}", fmt::join(parts, "<br>"));
}

std::string with_unit(const Json& value, const Json& unit) {
    if (value.is_null()) return "not measured";
    const auto text = unit.get<std::string>();
    return escaped(text.empty() ? text_of(value) : text_of(value) + " " + text);
}

std::string differing_rows(const PaperResults& of) {
    std::string out;
    for (const auto& row : of.results->at("results")) {
        if (row.at("agrees").get<bool>()) continue;
        const auto where = row.at("where").get<std::string>();
        out += fmt::format(
            "<tr><td class=where><a href='{}.html#{}'>{}</a><td>{}<br><small>{}</small><td>{}<td class=v>{}<td "
            "class=m>{}",
            of.paper->id, report::anchor("from", where.substr(0, where.find(" / "))), escaped(where),
            escaped(row.at("quantity").get<std::string>()), escaped(row.at("gpu").get<std::string>()),
            with_unit(row.at("published"), row.at("unit")), with_unit(row.at("reproduced"), row.at("unit")),
            explanation(row, *of.paper));
    }
    return out;
}

std::string line_of(const PaperResults& of) {
    const auto& paper = *of.paper;
    const auto name = fmt::format("{} ({})", escaped(paper.title), paper.year);
    if (!of.results)
        return fmt::format(
            "<tr><th scope=row>{}</th><td colspan=3>not reproduced yet: <code>gputomo reproduce {} --out .</code>",
            name, escaped(paper.id));
    const auto agreeing = of.results->at("agreeing").get<std::size_t>(), all = of.results->at("results").size();
    return fmt::format(
        "<tr><th scope=row><a href='{}.html'>{}</a></th><td class=c>{} of {}<td><div class=rest><i class=share "
        "style='width:{:.0f}%'></i></div><td class=c>{}",
        paper.id, name, agreeing, all,
        all == 0 ? 0.0 : 100.0 * static_cast<double>(agreeing) / static_cast<double>(all),
        of.results->at("not_reproducible").size());
}

}  // namespace

std::string index_page(const std::vector<PaperResults>& papers) {
    std::string out = report::page_start("Papers measured again") + fmt::format("<style>{}</style>", papers_css());
    out +=
        "<p>Published values, measured again on simulated GPUs by experiments that know nothing of the GPU. A paper's "
        "page "
        "has each published value beside the reproduced one.</p>";
    out +=
        "<div class=scroll><table class=overview><thead><tr><th>paper<th>agree<th>share<th>cannot be "
        "reproduced</thead><tbody>";
    for (const auto& paper : papers) out += line_of(paper);
    out += "</tbody></table></div>";
    for (const auto& paper : papers) {
        if (!paper.results) continue;
        const auto rows = differing_rows(paper);
        out += fmt::format("<h2 id='{}'>{}: values that do not agree</h2>", escaped(paper.paper->id),
                           escaped(paper.paper->title));
        out += rows.empty() ? "<p>Nothing.</p>"
                            : fmt::format(
                                  "<div class=scroll><table "
                                  "class=all><thead><tr><th>where<th>quantity<th>published<th>reproduced<th>why</"
                                  "thead><tbody>{}</tbody></table></div>",
                                  rows);
    }
    return out + "</html>\n";
}

}  // namespace gputomo::reproduce
