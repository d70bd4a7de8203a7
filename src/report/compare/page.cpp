#include "report/compare/page.hpp"

#include "report/compare/side_by_side.hpp"
#include "report/compare/trends.hpp"
#include "report/parts/start.hpp"
#include "report/parts/subsystems.hpp"
#include "report/plot/element.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace gputomo::report {
namespace {

/// The columns of the comparison. Machines with the same name get a number.
std::vector<Described> described(const std::vector<std::pair<std::string, machine::Machine>>& machines) {
    std::map<std::string, int> seen;
    std::vector<Described> columns;
    for (const auto& entry : machines) {
        const auto same = std::count_if(machines.begin(), machines.end(),
                                        [&](const auto& other) { return other.first == entry.first; });
        columns.push_back(
            {same == 1 ? entry.first : fmt::format("{} ({})", entry.first, ++seen[entry.first]), Facts(entry.second)});
    }
    return columns;
}

std::vector<LeafRow> of_subsystem(const std::vector<LeafRow>& rows, const Subsystem& subsystem) {
    std::vector<LeafRow> own;
    std::copy_if(rows.begin(), rows.end(), std::back_inserter(own),
                 [&](const LeafRow& row) { return subsystem_of(row.any->path) == &subsystem; });
    return own;
}

std::size_t differing(const std::vector<LeafRow>& rows) {
    return static_cast<std::size_t>(
        std::count_if(rows.begin(), rows.end(), [](const LeafRow& row) { return row.differs; }));
}

/// One section; more than twice kManyThings things are folded away.
std::string subsystem_section(const Subsystem& subsystem, const std::vector<LeafRow>& rows,
                              std::span<const Described> columns) {
    std::set<std::string> things;
    for (const auto& row : rows) things.insert(owner_of(*row.any));
    const auto table = comparison_table(rows, columns);
    const auto heading =
        fmt::format("<h2 id={}>{}: {} of {} differ</h2>", subsystem.id, subsystem.title, differing(rows), rows.size());
    return heading + (things.size() > 2 * kManyThings
                          ? fmt::format("<details><summary>All {}</summary>{}</details>", things.size(), table)
                          : table);
}

std::string names_of(std::span<const Described> columns) {
    if (columns.size() > 3) return fmt::format("{} GPUs side by side", columns.size());
    std::string out;
    for (std::size_t i = 0; i < columns.size(); ++i)
        out += (i == 0 ? "" : i + 1 == columns.size() ? " and " : ", ") + columns[i].name;
    return out;
}

}  // namespace

std::string comparison(const std::vector<std::pair<std::string, machine::Machine>>& machines,
                       const std::vector<TrendPlot>& plots) {
    const auto columns = described(machines);
    const auto rows = side_by_side(columns);
    std::string figures;
    for (const auto& plot : plots)
        figures += plot_element(plot.trace, {plot.lines, std::vector<bool>(plot.lines.size(), true)});
    const auto trend = trends(columns, figures);
    std::string sections, contents = trend.empty() ? "" : "<a href='#trends'>Trends</a> ";
    for (const auto& subsystem : subsystems()) {
        const auto own = of_subsystem(rows, subsystem);
        if (own.empty()) continue;
        contents += fmt::format("<a href='#{}'>{}</a> ", subsystem.id, subsystem.title);
        sections += subsystem_section(subsystem, own, columns);
    }
    return page_start(names_of(columns)) +
           fmt::format(
               "<nav>{}</nav>{}<p class=m>Bold rows differ between two GPUs by more than their intervals. Empty cells "
               "are "
               "unknown. Hold the pointer over a value to see its source.</p>{}"
               "<label class=only><input type=checkbox id=differences> Only what differs ({} of {} "
               "leaves)</label>{}{}</html>\n",
               contents, headline_table(columns), trend, differing(rows), rows.size(), sections, plot_scripts(figures));
}

std::string differences(const std::pair<std::string, const machine::Machine*>& gpu,
                        const std::pair<std::string, const machine::Machine*>& earlier) {
    const std::vector<Described> columns{{gpu.first, Facts(*gpu.second)}, {earlier.first, Facts(*earlier.second)}};
    auto rows = side_by_side(columns);
    const auto all = std::count_if(rows.begin(), rows.end(), [](const LeafRow& row) {
        return row.leaves[0] != nullptr && row.leaves[1] != nullptr;
    });
    std::erase_if(rows, [](const LeafRow& row) { return !row.differs; });
    if (rows.empty()) return {};
    return fmt::format(
        "<details class=part id=earlier><summary><h2>Changes since {}</h2><span>{} of {} values that are known of "
        "both differ</span></summary><p class=m>a GPU of the generation before</p>{}</details>",
        escaped(earlier.first), rows.size(), all, comparison_table(rows, columns));
}

}  // namespace gputomo::report
