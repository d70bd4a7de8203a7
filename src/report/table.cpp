#include "report/table.hpp"

#include "machine/diff.hpp"
#include "machine/json.hpp"
#include "machine/paths.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace gputomo::report {
namespace {

/// An absent thing has no unit.
std::string_view unit_of(const machine::NamedLeaf& leaf) {
    return leaf.leaf.knowledge == machine::Knowledge::absent ? "" : machine::unit_name(leaf.info.unit);
}

}  // namespace

std::string table(const machine::Machine& machine) {
    const auto leaves = machine::all_leaves(machine);
    std::size_t widest = 0, widest_value = 0;
    for (const auto& leaf : leaves) {
        widest = std::max(widest, leaf.path.size());
        widest_value = std::max(widest_value, std::min<std::size_t>(40, machine::value_text(leaf.leaf).size()));
    }
    std::string out, section;
    for (const auto& leaf : leaves) {
        const auto name = leaf.path.substr(0, leaf.path.find_first_of(".["));
        if (name != section) {
            out += fmt::format("{}{}\n", section.empty() ? "" : "\n", name);
            section = name;
        }
        std::string line = fmt::format("  {:<{}}  {:>{}} {:<10}", leaf.path, widest, machine::value_text(leaf.leaf),
                                       widest_value, unit_of(leaf));
        const auto& from = leaf.leaf.provenance;
        if (from.confidence) line += fmt::format(" {:>4.0f}%", 100 * *from.confidence);
        if (from.interval && (*from.interval)[0] != (*from.interval)[1])
            line += fmt::format("  [{:.6g}, {:.6g}]", (*from.interval)[0], (*from.interval)[1]);
        if (!from.source.empty()) line += fmt::format("  {}", from.source);
        line.erase(line.find_last_not_of(' ') + 1);
        out += line + "\n";
    }
    return out;
}

}  // namespace gputomo::report
