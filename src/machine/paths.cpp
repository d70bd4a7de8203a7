#include "machine/paths.hpp"

#include <fmt/format.h>

#include <cmath>

namespace gputomo::machine {
namespace {

struct SplitPath {
    std::string_view section;
    std::string_view key;
    std::string_view leaf;
};

SplitPath split(std::string_view path) {
    const auto fail = [&] {
        throw std::logic_error(fmt::format("malformed machine path '{}'; expected section.key.leaf", path));
    };
    SplitPath parts;
    const auto section_end = path.find_first_of(".[");
    if (section_end == std::string_view::npos) fail();
    parts.section = path.substr(0, section_end);
    if (path[section_end] == '[') {
        const auto close = path.find("].", section_end);
        if (close == std::string_view::npos) fail();
        parts.key = path.substr(section_end + 1, close - section_end - 1);
        parts.leaf = path.substr(close + 2);
        return parts;
    }
    const auto rest = path.substr(section_end + 1);
    const auto key_end = rest.find('.');
    if (key_end == std::string_view::npos) {
        parts.leaf = rest;
    } else {
        parts.key = rest.substr(0, key_end);
        parts.leaf = rest.substr(key_end + 1);
    }
    return parts;
}

/// Calls use(FieldInfo, field) on the leaf at `path`; returns false if there is none. `create` adds missing map
/// entries.
template <class M, class Use>
bool with_leaf(M& machine, std::string_view path, bool create, Use&& use) {
    const auto parts = split(path);
    bool found = false;
    const auto pick = [&](const FieldInfo& info, auto& field) {
        if (info.name != parts.leaf) return;
        found = true;
        use(info, field);
    };
    Machine::sections(machine, [&](std::string_view section, auto& content) {
        if (section != parts.section) return;
        using Content = std::remove_cvref_t<decltype(content)>;
        if constexpr (requires { typename Content::mapped_type; }) {
            if (parts.key.empty()) return;
            if constexpr (!std::is_const_v<std::remove_reference_t<decltype(content)>>) {
                if (create) content.try_emplace(std::string(parts.key));
            }
            const auto entry = content.find(std::string(parts.key));
            if (entry != content.end()) Content::mapped_type::fields(entry->second, pick);
        } else if (parts.key.empty()) {
            Content::fields(content, pick);
        }
    });
    return found;
}

template <class T>
std::optional<T> convert(const Value& value) {
    if (const auto* same = std::get_if<T>(&value)) return *same;
    if constexpr (std::is_same_v<T, double>) {
        if (const auto* integer = std::get_if<std::int64_t>(&value)) return static_cast<double>(*integer);
    } else if constexpr (std::is_same_v<T, std::int64_t>) {
        const auto* real = std::get_if<double>(&value);
        if (real != nullptr && std::nearbyint(*real) == *real && std::abs(*real) < 0x1p63)
            return static_cast<std::int64_t>(*real);
    } else if constexpr (std::is_same_v<T, std::vector<double>>) {
        if (const auto* integers = std::get_if<std::vector<std::int64_t>>(&value))
            return std::vector<double>(integers->begin(), integers->end());
    }
    return std::nullopt;
}

template <class T>
T require(const Value& value, std::string_view path) {
    auto converted = convert<T>(value);
    if (!converted)
        throw std::logic_error(
            fmt::format("machine path '{}' was given a value of another type than its leaf has", path));
    return *std::move(converted);
}

template <class T>
Leaf to_leaf(const Field<T>& field) {
    return {field.knowledge, Value(field.value), {field.candidates.begin(), field.candidates.end()}, field.provenance};
}

}  // namespace

std::string join_path(std::string_view section, std::string_view key, std::string_view leaf) {
    if (key.empty()) return fmt::format("{}.{}", section, leaf);
    if (key.find('.') != std::string_view::npos) return fmt::format("{}[{}].{}", section, key, leaf);
    return fmt::format("{}.{}.{}", section, key, leaf);
}

void set_leaf(Machine& machine, std::string_view path, const Leaf& leaf) {
    const bool found = with_leaf(machine, path, true, [&](const FieldInfo&, auto& field) {
        // clang 14 asks for the word. NOLINTNEXTLINE(readability-redundant-typename)
        using T = typename std::remove_cvref_t<decltype(field)>::value_type;
        field = {};
        field.knowledge = leaf.knowledge;
        field.provenance = leaf.provenance;
        if (leaf.knowledge == Knowledge::known) field.value = require<T>(leaf.value, path);
        for (const auto& candidate : leaf.candidates) field.candidates.push_back(require<T>(candidate, path));
    });
    if (!found) throw std::logic_error(fmt::format("no such leaf in a machine description: '{}'", path));
}

std::optional<Leaf> get_leaf(const Machine& machine, std::string_view path) {
    std::optional<Leaf> leaf;
    with_leaf(machine, path, false, [&](const FieldInfo&, const auto& field) { leaf = to_leaf(field); });
    return leaf;
}

std::vector<NamedLeaf> all_leaves(const Machine& machine) {
    std::vector<NamedLeaf> leaves;
    visit_leaves(machine, [&](const std::string& path, const FieldInfo& info, const auto& field) {
        if (field.knowledge != Knowledge::unknown) leaves.push_back({path, info, to_leaf(field)});
    });
    return leaves;
}

}  // namespace gputomo::machine
