#include "report/uncertain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace gputomo::report {
namespace {

using Open = std::vector<const machine::NamedLeaf*>;

/// Undecided leaves by what they belong to, in the order of the description. Operations come last, because they are
/// many and alike.
std::vector<std::pair<std::string, Open>> open_leaves(const Facts& facts) {
    std::vector<std::pair<std::string, Open>> groups;
    for (const auto& leaf : facts.all()) {
        if (leaf.leaf.knowledge != machine::Knowledge::undecided) continue;
        if (groups.empty() || groups.back().first != owner_of(leaf)) groups.push_back({owner_of(leaf), {}});
        groups.back().second.push_back(&leaf);
    }
    std::ranges::stable_partition(groups, [](const auto& group) { return !group.first.starts_with("operations["); });
    return groups;
}

std::string listed(const std::vector<std::pair<std::string, Open>>& groups) {
    std::string out = "<ul class=open>";
    for (const auto& [owner, leaves] : groups) {
        out += fmt::format("<li><b>{}</b>:", escaped(owner));
        for (const auto* leaf : leaves)
            out +=
                fmt::format("{} <a href='#{}'>{}</a> {}", leaf == leaves.front() ? "" : ",", anchor("leaf", leaf->path),
                            escaped(in_words(leaf->info.name)), escaped(leaf_text(*leaf)));
        out += "</li>";
    }
    return out + "</ul>";
}

}  // namespace

std::string uncertain(const Facts& facts, const Page& page) {
    const auto groups = open_leaves(facts);
    if (groups.empty() && page.warnings.empty()) return {};
    std::size_t count = 0;
    for (const auto& [owner, leaves] : groups) count += leaves.size();
    std::string out = "<section id=uncertain><h3>What is uncertain</h3>";
    if (count > 0) {
        std::string names;
        constexpr std::size_t kNamed = 3;
        for (std::size_t i = 0; i < std::min(kNamed, groups.size()); ++i)
            names += fmt::format("{}{}", i == 0 ? "" : ", ", escaped(groups[i].first));
        out += fmt::format(
            "<p>{} of {} values are undecided: {}{}.</p><details><summary>What is left of each</summary>{}</details>",
            count, facts.all().size(), names,
            groups.size() > kNamed ? fmt::format(" and {} more things", groups.size() - kNamed) : "", listed(groups));
    }
    if (!page.warnings.empty()) {
        out += fmt::format("<details class=warns><summary>{} warning{} of the scan</summary>", page.warnings.size(),
                           page.warnings.size() == 1 ? "" : "s");
        for (const auto& warning : page.warnings) out += fmt::format("<div class=warn>{}</div>", escaped(warning));
        out += "</details>";
    }
    return out + "</section>";
}

}  // namespace gputomo::report
