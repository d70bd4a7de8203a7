#include "cli/inputs/machines.hpp"
#include "cli/inputs/origin.hpp"
#include "cli/options.hpp"
#include "cli/terminal/help.hpp"
#include "cli/terminal/messages.hpp"
#include "machine/diff.hpp"
#include "machine/json.hpp"
#include "units/error.hpp"
#include "units/pattern.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <utility>

namespace gputomo::cli {
namespace {

using Json = nlohmann::ordered_json;

struct ShowArguments {
    std::string path, machine;
    bool json = false;
};

/// The path with dots in place of brackets, which are optional on the command line: operations.fma.rn.f32.latency.
std::string without_brackets(std::string_view path) {
    std::string text;
    for (const char c : path)
        if (c != ']') text += c == '[' ? '.' : c;
    return text;
}

/// Whether a path is what the user asked for: itself, a part of the description above it, or a pattern. Both are
/// without brackets.
bool is_asked_for(std::string_view asked, std::string_view path) {
    const bool below = path.starts_with(asked) && path.size() > asked.size() && path[asked.size()] == '.';
    return below || fits_pattern(asked, path);
}

/// Names what comes after the longest part of the path that the description has.
std::string expected_paths(const std::vector<machine::NamedLeaf>& leaves, std::string asked) {
    while (!asked.empty()) {
        const auto end = asked.find_last_of('.');
        asked.resize(end == std::string::npos ? 0 : end);
        std::set<std::string> next;
        for (const auto& leaf : leaves) {
            const auto path = without_brackets(leaf.path);
            if (!asked.empty() && !is_asked_for(asked, path)) continue;
            const auto from = asked.empty() ? 0 : asked.size() + 1;
            const auto to = path.find('.', from);
            next.insert(path.substr(from, to == std::string::npos ? to : to - from));
        }
        if (!next.empty())
            return asked.empty() ? fmt::format("one of {}", fmt::join(next, ", "))
                                 : fmt::format("one of {} after '{}'", fmt::join(next, ", "), asked);
    }
    return "a description that is not empty";
}

std::vector<machine::NamedLeaf> leaves_asked_for(const ShowArguments& arguments, const machine::Machine& machine) {
    auto leaves = machine::all_leaves(machine);
    const auto asked = without_brackets(arguments.path);
    std::vector<machine::NamedLeaf> found;
    for (const auto& leaf : leaves)
        if (is_asked_for(asked, without_brackets(leaf.path))) found.push_back(leaf);
    if (found.empty())
        throw InputError(fmt::format("{}: found no value '{}'; expected {}", arguments.machine, arguments.path,
                                     expected_paths(leaves, asked)));
    return found;
}

std::string value_with_unit(const machine::NamedLeaf& leaf) {
    const auto unit = machine::unit_name(leaf.info.unit);
    const auto text = machine::value_text(leaf.leaf);
    return leaf.leaf.knowledge == machine::Knowledge::absent || unit.empty() || unit == "count"
               ? text
               : fmt::format("{} {}", text, unit);
}

void print_evidence(const machine::NamedLeaf& leaf) {
    const auto& from = leaf.leaf.provenance;
    out::print("{:<12} {}\n", "meaning", leaf.info.doc);
    if (!from.source.empty()) out::print("{:<12} {}\n", "source", from.source);
    if (!from.method.empty()) out::print("{:<12} {}\n", "method", from.method);
    if (from.confidence) out::print("{:<12} {:g}\n", "confidence", *from.confidence);
    if (from.interval) out::print("{:<12} {:.6g} to {:.6g}\n", "interval", (*from.interval)[0], (*from.interval)[1]);
    if (!from.note.empty()) out::print("{:<12} {}\n", "note", from.note);
    if (!leaf.info.internal.empty()) out::print("{:<12} {}\n", "not scanned", leaf.info.internal);
}

/// The leaves as a machine.json file has them, by path.
std::map<std::string, Json> leaves_by_path(const machine::Machine& machine) {
    std::map<std::string, Json> leaves;
    const Json whole = Json::parse(machine::to_json(machine));
    for (const auto& [section, part] : whole.items()) {
        if (!part.is_object()) continue;
        for (const auto& [name, member] : part.items()) {
            leaves[machine::join_path(section, {}, name)] = member;
            if (!member.is_object()) continue;
            for (const auto& [leaf, content] : member.items())
                leaves[machine::join_path(section, name, leaf)] = content;
        }
    }
    return leaves;
}

Json json_of(const std::vector<machine::NamedLeaf>& leaves, const machine::Machine& machine) {
    const auto by_path = leaves_by_path(machine);
    Json rows = Json::array();
    for (const auto& leaf : leaves) {
        Json row{{"path", leaf.path}, {"meaning", leaf.info.doc}};
        row.update(by_path.at(leaf.path));
        rows.push_back(std::move(row));
    }
    return {{"schema", "gputomo-show-1"}, {"gpu", machine.identity.name.value_or("")}, {"values", std::move(rows)}};
}

int show(const ShowArguments& arguments) {
    const auto machine = machine_named(arguments.machine);
    const auto leaves = leaves_asked_for(arguments, machine);
    if (arguments.json) {
        print_json(json_of(leaves, machine), origin_of_command());
        return 0;
    }
    if (leaves.size() == 1) {
        out::print("{} = {}\n", leaves.front().path, value_with_unit(leaves.front()));
        print_evidence(leaves.front());
        return 0;
    }
    for (const auto& leaf : leaves) {
        const auto& from = leaf.leaf.provenance;
        const auto confidence = from.confidence ? fmt::format("{:g}", *from.confidence) : from.source;
        out::print("{:<48} {:<28} {}\n", leaf.path, value_with_unit(leaf), confidence);
    }
    return 0;
}

}  // namespace

void add_show(CLI::App& parent, Action& action) {
    const auto arguments = std::make_shared<ShowArguments>();
    Command command(parent, "show", "Show a value of a machine description with its evidence");
    command
        .add_option("path", arguments->path,
                    "path of the value, for instance caches.l2.latency; with * for any characters, or only the "
                    "first part of the path, all such values are listed")
        .required();
    command.add_option("machine", arguments->machine, kMachineHelp).required();
    command.add_flag("--json", arguments->json, "print JSON instead of text");
    command.runs(action, [arguments] { return show(*arguments); });
}

}  // namespace gputomo::cli
