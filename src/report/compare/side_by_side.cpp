#include "report/compare/side_by_side.hpp"

#include "machine/diff.hpp"
#include "report/parts/quantities.hpp"
#include "report/parts/subsystems.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <list>
#include <unordered_map>

namespace gputomo::report {
namespace {

bool compared(const machine::NamedLeaf& leaf) {
    return leaf.info.internal.empty() || section_of(leaf.path) == "identity";
}

/// The paths of all columns. Each column's order is kept: a path that earlier columns lack stands behind the one that
/// it follows in its own column.
std::list<std::string> paths_of(std::span<const Described> columns) {
    std::list<std::string> order;
    std::unordered_map<std::string, std::list<std::string>::iterator> places;
    for (const auto& column : columns) {
        auto next = order.begin();
        for (const auto& leaf : column.facts.all()) {
            if (!compared(leaf)) continue;
            const auto found = places.find(leaf.path);
            const auto place = found != places.end() ? found->second : order.insert(next, leaf.path);
            places.emplace(leaf.path, place);
            next = std::next(place);
        }
    }
    return order;
}

bool any_pair_differs(const std::vector<const machine::NamedLeaf*>& leaves) {
    for (std::size_t i = 0; i < leaves.size(); ++i)
        for (std::size_t j = i + 1; j < leaves.size(); ++j)
            if (leaves[i] != nullptr && leaves[j] != nullptr &&
                machine::relation(*leaves[i], leaves[j]->leaf) == machine::Relation::different)
                return true;
    return false;
}

std::string head(std::span<const Described> columns) {
    std::string out = "<thead><tr><th>what";
    for (const auto& column : columns) out += fmt::format("<th>{}", escaped(column.name));
    return out + "</thead>";
}

/// A table cell with the value, whose tooltip names the source.
std::string cell(const machine::NamedLeaf* leaf) {
    if (leaf == nullptr) return "<td></td>";
    const auto& from = leaf->leaf.provenance;
    return fmt::format("<td title='{}'>{}</td>", escaped(from.source.empty() ? from.method : from.source),
                       escaped(leaf_text(*leaf)));
}

std::string derived_row(std::string_view label, std::span<const Described> columns,
                        const std::function<std::string(const Facts&)>& text) {
    std::string cells;
    bool known = false;
    for (const auto& column : columns) {
        const auto value = text(column.facts);
        known |= !value.empty();
        cells += fmt::format("<td>{}</td>", value);
    }
    return known ? fmt::format("<tr class=differs><th scope=row>{}</th>{}", label, cells) : "";
}

}  // namespace

std::vector<LeafRow> side_by_side(std::span<const Described> columns) {
    std::vector<LeafRow> rows;
    for (const auto& path : paths_of(columns)) {
        LeafRow row;
        for (const auto& column : columns) {
            row.leaves.push_back(column.facts.find(path));
            if (row.any == nullptr) row.any = row.leaves.back();
        }
        row.differs = any_pair_differs(row.leaves);
        rows.push_back(std::move(row));
    }
    return rows;
}

std::string comparison_table(const std::vector<LeafRow>& rows, std::span<const Described> columns) {
    std::string out = fmt::format("<div class=scroll><table class=compare>{}", head(columns)), owner;
    for (const auto& row : rows) {
        if (owner_of(*row.any) != owner) {
            const bool shown = std::any_of(rows.begin(), rows.end(), [&](const LeafRow& r) {
                return r.differs && owner_of(*r.any) == owner_of(*row.any);
            });
            out += fmt::format("{}<tbody class={}><tr class=key><th colspan={} scope=rowgroup>{}</th>",
                               owner.empty() ? "" : "</tbody>", shown ? "differs" : "same", columns.size() + 1,
                               escaped(owner_of(*row.any)));
            owner = owner_of(*row.any);
        }
        out += fmt::format("<tr class={}><th scope=row title='{}'>{}</th>", row.differs ? "differs" : "same",
                           escaped(row.any->info.doc), escaped(row.any->info.name));
        for (const auto* leaf : row.leaves) out += cell(leaf);
    }
    return out + (owner.empty() ? "" : "</tbody>") + "</table></div>";
}

std::string headline_table(std::span<const Described> columns) {
    std::string out = fmt::format("<div class=scroll><table class=compare>{}<tbody>", head(columns));
    for (const auto& headline : headlines()) {
        std::vector<const machine::NamedLeaf*> leaves;
        for (const auto& column : columns) leaves.push_back(column.facts.find(headline.path));
        if (std::all_of(leaves.begin(), leaves.end(), [](const auto* leaf) { return leaf == nullptr; })) continue;
        out += fmt::format("<tr class={}><th scope=row>{}</th>", any_pair_differs(leaves) ? "differs" : "same",
                           headline.label);
        for (const auto* leaf : leaves) out += cell(leaf);
    }
    out += derived_row("loads that stream at nearly full bandwidth", columns, [](const Facts& facts) {
        const auto found = streaming(facts);
        return found ? streaming_text(*found) : "";
    });
    return out +
           derived_row("warps per SM that hide FP32 latency", columns,
                       [](const Facts& facts) {
                           const auto warps = warps_for_arithmetic(facts);
                           return warps ? fmt::format("{:.0f}", std::ceil(*warps)) : "";
                       }) +
           "</tbody></table></div>";
}

}  // namespace gputomo::report
