#include "cli/inputs/set_leaves.hpp"

#include "cli/inputs/devices.hpp"
#include "machine/diff.hpp"
#include "machine/json.hpp"
#include "machine/paths.hpp"
#include "units/error.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <stdexcept>
#include <string_view>

namespace gputomo::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string with_dots(std::string_view path) {
    std::string text;
    for (const char c : path)
        if (c != ']') text += c == '[' ? '.' : c;
    return text;
}

/// The value as any type that a leaf can have.
std::optional<machine::Value> value_in(const std::string& text) {
    const auto json = Json::parse(text, nullptr, false);
    if (json.is_discarded()) return machine::Value(text);
    if (json.is_boolean()) return machine::Value(json.get<bool>());
    if (json.is_number_integer()) return machine::Value(json.get<std::int64_t>());
    if (json.is_number()) return machine::Value(json.get<double>());
    if (json.is_string()) return machine::Value(json.get<std::string>());
    if (!json.is_array() || json.empty()) return {};
    const auto all = [&](auto is) { return std::all_of(json.begin(), json.end(), is); };
    if (all([](const Json& one) { return one.is_number_integer(); }))
        return machine::Value(json.get<std::vector<std::int64_t>>());
    if (all([](const Json& one) { return one.is_number(); })) return machine::Value(json.get<std::vector<double>>());
    if (all([](const Json& one) { return one.is_string(); }))
        return machine::Value(json.get<std::vector<std::string>>());
    return {};
}

/// The leaf's path with its brackets. A leaf that the description leaves open has the path as it is given.
std::string path_in(const machine::Machine& machine, const std::string& asked) {
    for (const auto& leaf : machine::all_leaves(machine))
        if (with_dots(leaf.path) == with_dots(asked)) return leaf.path;
    return asked;
}

bool has_entry(const machine::Machine& machine, std::string_view entry) {
    return std::ranges::any_of(machine::all_leaves(machine),
                               [&](const auto& leaf) { return with_dots(leaf.path).starts_with(entry); });
}

/// Refuses a cache, TLB, pipeline or kind of access that no description has. It would be added to the description,
/// where nothing reads it.
void check_entry(const machine::Machine& machine, std::string_view path, std::string_view where) {
    const auto section_end = path.find('.'), entry_end = path.find('.', section_end + 1);
    if (section_end == std::string_view::npos || entry_end == std::string_view::npos) return;
    const auto section = path.substr(0, section_end), entry = path.substr(0, entry_end + 1);
    constexpr std::string_view kNamed[] = {"accesses", "caches", "pipelines", "tlbs"};
    if (std::ranges::find(kNamed, section) == std::end(kNamed) || has_entry(machine, entry)) return;
    for (const auto& name : shipped_machines())
        if (has_entry(simulated_machine("sim:" + name), entry)) return;
    throw InputError(
        fmt::format("{}: no description has '{}', and nothing would read it; `gputomo show {} M.json` lists "
                    "what a description has",
                    where, path.substr(0, entry_end), section));
}

std::string set_leaf(machine::Machine& machine, const std::string& assignment) {
    const std::string where = "--set " + assignment;
    const auto equals = assignment.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == assignment.size())
        throw InputError(where + ": expected PATH=VALUE");
    const auto path = path_in(machine, assignment.substr(0, equals));
    const auto value = value_in(assignment.substr(equals + 1));
    if (!value) throw InputError(where + ": expected a number, a word, or a list of either as the value");
    check_entry(machine, with_dots(path), where);
    std::optional<machine::Leaf> before;
    machine::Leaf leaf{.knowledge = machine::Knowledge::known, .value = *value, .candidates = {}, .provenance = {}};
    leaf.provenance.source = "set on the command line";
    try {
        before = machine::get_leaf(machine, path);
        machine::set_leaf(machine, path, leaf);
    } catch (const std::logic_error& e) {
        throw InputError(
            fmt::format("{}: {}; `gputomo show PATH M.json` lists the paths of a description", where, e.what()));
    }
    return fmt::format("{} = {}, set on the command line{}", path, assignment.substr(equals + 1),
                       before && before->knowledge == machine::Knowledge::known
                           ? fmt::format(" instead of {}", machine::value_text(*before))
                           : "");
}

}  // namespace

std::vector<std::string> set_leaves(machine::Machine& machine, const std::vector<std::string>& assignments) {
    std::vector<std::string> changed;
    for (const auto& assignment : assignments) changed.push_back(set_leaf(machine, assignment));
    if (!changed.empty()) machine::validate(machine, "--set");
    return changed;
}

}  // namespace gputomo::cli
