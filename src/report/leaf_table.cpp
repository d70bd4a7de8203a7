#include "report/leaf_table.hpp"

#include "report/parts/quantities.hpp"
#include "report/parts/storages.hpp"
#include "report/parts/subsystems.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>

namespace gputomo::report {
namespace {

using machine::NamedLeaf;

std::string_view key_of(std::string_view owner) {
    if (owner.ends_with(']')) return owner.substr(owner.find('[') + 1, owner.size() - owner.find('[') - 2);
    return owner.substr(owner.find('.') == std::string_view::npos ? 0 : owner.find('.') + 1);
}

/// Whether the trace belongs to what the leaf describes, as "caches/l1_trace" belongs to caches.l1. A latency is better
/// seen in a plot with those of other levels, so it takes no such trace.
bool is_of(const results::Trace& trace, std::string_view key, const NamedLeaf& leaf) {
    const auto name = std::string_view(trace.name).substr(trace.name.find('/') + 1);
    return name == key || (!leaf.info.name.starts_with("latency") && name.size() > key.size() &&
                           name.starts_with(key) && name[key.size()] == '_');
}

/// The trace that a leaf links to as its evidence: the one named after the leaf's cache, TLB or operation. Without such
/// a trace it is the experiment's first one with a plot, or else its first one.
const results::Trace* evidence_of(const NamedLeaf& leaf, const std::string& experiment, const Page& page) {
    const std::string owner = owner_of(leaf);
    const auto key = key_of(owner);
    const results::Trace* first = nullptr;
    for (const auto& trace : page.traces) {
        if (trace.experiment != experiment) continue;
        if (is_of(trace, key, leaf)) return &trace;
        if (first == nullptr || (first->plot.x.empty() && !trace.plot.x.empty())) first = &trace;
    }
    return first;
}

std::string links(const NamedLeaf& leaf, const Page& page) {
    const auto found = page.experiment_of.find(leaf.path);
    if (found == page.experiment_of.end()) return {};
    std::string out = fmt::format(" <a href='#{}'>method</a>", anchor("experiment", found->second));
    if (const auto* trace = evidence_of(leaf, found->second, page))
        out += fmt::format(" <a href='#{}'>evidence</a>", anchor("trace", trace->name));
    return out;
}

std::string interval_text(const NamedLeaf& leaf) {
    const auto& interval = leaf.leaf.provenance.interval;
    if (!interval || (*interval)[0] == (*interval)[1]) return {};
    return range_text((*interval)[0], (*interval)[1], leaf.info.unit);
}

/// What a table is made from.
struct Source {
    const machine::Machine& machine;
    const Facts& facts;
    const Page& page;
};

/// What a value does not say by itself; empty for most.
std::string remark(const NamedLeaf& leaf, const Source& source) {
    if (const auto number = source.facts.number(leaf.path))
        if (const auto operations = in_operations(leaf.path, *number); !operations.empty()) return operations;
    if (leaf.info.name == "capacity" && leaf.path.starts_with("caches.")) {
        const auto owner = owner_of(leaf) + ".";
        const auto tags = bytes_of_tags(source.facts, owner), capacity = source.facts.number(leaf.path);
        if (tags && capacity && *tags > *capacity)
            return fmt::format("data; the tags of {} ways x {} sets are for {}", source.facts.text(owner + "ways"),
                               source.facts.text(owner + "sets"), number_text(*tags, machine::Unit::bytes));
    }
    return {};
}

std::string as_sentence(std::string text) {
    if (!text.empty()) text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
    return text;
}

/// Explains a note of replacement policies, where a policy may explain more victims than the one that was found.
std::string explained(const NamedLeaf& leaf) {
    if (leaf.info.name != "policy" || leaf.leaf.provenance.note.find(" explains ") == std::string::npos) return {};
    return ". A policy explains a victim if it allows it. One that allows several, as random allows all, explains more "
           "and predicts less; the likelihood of all victims decides";
}

std::string row(const NamedLeaf& leaf, const Source& source) {
    const auto& from = leaf.leaf.provenance;
    const std::string basis = from.source.empty() ? from.method : from.source;
    const auto confidence = from.confidence ? fmt::format("{:.0f}%", 100 * *from.confidence) : "";
    const auto beside = remark(leaf, source);
    return fmt::format(
        "<tr id='{}' data-path='{}'><th scope=row title='{}'>{}</th><td class=v>{}</td><td class=c>{}</td><td>{}</td>"
        "<td class=m>{}{}{}{}{}</td>",
        anchor("leaf", leaf.path), escaped(leaf.path), escaped(leaf.info.doc), escaped(leaf.info.name),
        escaped(leaf_text(leaf)) + (beside.empty() ? "" : fmt::format("<small>{}</small>", escaped(beside))),
        confidence, interval_text(leaf), escaped(basis), from.note.empty() ? "" : ". ", escaped(as_sentence(from.note)),
        explained(leaf), links(leaf, source.page));
}

/// The heading of the rows of one thing; of a cache also the storage that it is, where that has another name.
std::string heading(const std::string& owner, const Source& source) {
    constexpr std::string_view kCaches = "caches.";
    std::string note;
    if (owner.starts_with(kCaches)) {
        const auto key = owner.substr(kCaches.size()), storage = storage_of(source.machine, key);
        if (storage != key) note = fmt::format(" <small>the same storage as {}{}</small>", kCaches, escaped(storage));
    }
    return fmt::format("<tr class=key><th colspan=5>{}{}</th>", escaped(owner), note);
}

std::string list(const std::vector<NamedLeaf>& leaves, const Source& source) {
    std::string out =
                    "<table class=leaves><thead><tr><th>what<th>value<th>confidence<th>interval<th>how</thead><tbody>",
                owner;
    for (const auto& leaf : leaves) {
        if (owner_of(leaf) != owner) {
            owner = owner_of(leaf);
            out += heading(owner, source);
        }
        out += row(leaf, source);
    }
    return out + "</tbody></table>";
}

/// A table with one row for each thing and one column for each of its leaves.
std::string matrix(const std::vector<NamedLeaf>& leaves, const Facts& facts) {
    std::vector<std::string_view> columns;
    std::vector<std::string> owners;
    std::map<std::string, std::map<std::string_view, const NamedLeaf*>> cells;
    for (const auto& leaf : leaves) {
        if (std::find(columns.begin(), columns.end(), leaf.info.name) == columns.end())
            columns.push_back(leaf.info.name);
        auto& cell = cells[owner_of(leaf)];
        if (cell.empty()) owners.push_back(owner_of(leaf));
        cell[leaf.info.name] = &leaf;
    }
    std::string out = "<table class=matrix><thead><tr><th>";
    for (const auto column : columns) out += fmt::format("<th>{}", escaped(column));
    out += "</thead><tbody>";
    for (const auto& owner : owners) {
        out += fmt::format("<tr><th scope=row>{}</th>", escaped(key_of(owner)));
        for (const auto column : columns) {
            const auto found = cells[owner].find(column);
            if (found == cells[owner].end()) {
                out += "<td></td>";
                continue;
            }
            const auto number = facts.number(found->second->path);
            const auto operations = number ? in_operations(found->second->path, *number) : "";
            out += fmt::format("<td data-column='{}'><a href='#{}'>{}</a>{}</td>", escaped(column),
                               anchor("leaf", found->second->path), escaped(leaf_text(*found->second)),
                               operations.empty() ? "" : fmt::format(" <small>{}</small>", escaped(operations)));
        }
    }
    return out + "</tbody></table>";
}

}  // namespace

std::string leaf_table(const std::vector<NamedLeaf>& leaves, const machine::Machine& machine, const Facts& facts,
                       const Page& page) {
    const Source source{machine, facts, page};
    std::map<std::string_view, std::set<std::string>> things;  // by section
    for (const auto& leaf : leaves) things[section_of(leaf.path)].insert(owner_of(leaf));
    std::vector<NamedLeaf> few, many;
    for (const auto& leaf : leaves) (things[section_of(leaf.path)].size() > kManyThings ? many : few).push_back(leaf);
    std::string out = few.empty() ? "" : list(few, source);
    if (!many.empty())
        out += matrix(many, facts) +
               fmt::format("<details><summary>Each with confidence, interval and method</summary>{}</details>",
                           list(many, source));
    return out;
}

}  // namespace gputomo::report
