#include "report/uncertain.hpp"

#include <fmt/format.h>

#include <map>
#include <utility>
#include <vector>

namespace gputomo::report {
namespace {

using Open = std::vector<const machine::NamedLeaf*>;

/// Undecided leaves by what they belong to, in the order of the description.
std::vector<std::pair<std::string, Open>> open_leaves(const Facts& facts) {
    std::vector<std::pair<std::string, Open>> groups;
    for (const auto& leaf : facts.all()) {
        if (leaf.leaf.knowledge != machine::Knowledge::undecided) continue;
        if (groups.empty() || groups.back().first != owner_of(leaf)) groups.push_back({owner_of(leaf), {}});
        groups.back().second.push_back(&leaf);
    }
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
        out += fmt::format("<p>{} of {} values are undecided", count, facts.all().size());
        std::string names;
        constexpr std::size_t kNamed = 4;
        for (std::size_t i = 0; i < std::min(kNamed, groups.size()); ++i)
            names += fmt::format("{}{}", i == 0 ? ", of " : ", ", escaped(groups[i].first));
        out += names + (groups.size() > kNamed ? fmt::format(" and {} more", groups.size() - kNamed) : "");
        out +=
            fmt::format(". Each shows what is left.</p><details><summary>All {} undecided values</summary>{}</details>",
                        count, listed(groups));
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
