// Access to the leaves of a machine description: by path, and all of them in order.
#pragma once

#include "machine/machine.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace gputomo::machine {

using results::Value;

/// "section.key.leaf"; a key that has dots itself is put in brackets: operations[add.s32].latency.
[[nodiscard]] std::string join_path(std::string_view section, std::string_view key, std::string_view leaf);

/// Calls visit(path, FieldInfo, field) for every leaf, in the order of the description. `machine` may be const.
template <class M, class Visitor>
void visit_leaves(M& machine, Visitor&& visit) {
    Machine::sections(machine, [&](std::string_view section, auto& content) {
        using Content = std::remove_cvref_t<decltype(content)>;
        if constexpr (requires { typename Content::mapped_type; }) {
            for (auto& entry : content)
                Content::mapped_type::fields(entry.second, [&](const FieldInfo& info, auto& field) {
                    visit(join_path(section, entry.first, info.name), info, field);
                });
        } else {
            Content::fields(content, [&](const FieldInfo& info, auto& field) {
                visit(join_path(section, {}, info.name), info, field);
            });
        }
    });
}

/// A leaf of any type, for comparing and merging.
struct Leaf {
    Knowledge knowledge = Knowledge::unknown;
    Value value;
    std::vector<Value> candidates;
    Provenance provenance;
};

/// Sets the leaf at `path` and creates the map entry that it belongs to. A real leaf accepts an integer, and an integer
/// leaf a real that is a whole number. Any other type, or an unknown path, throws std::logic_error naming the path.
void set_leaf(Machine& machine, std::string_view path, const Leaf& leaf);

/// The leaf at `path`; nullopt if the path or its map entry does not exist.
[[nodiscard]] std::optional<Leaf> get_leaf(const Machine& machine, std::string_view path);

/// All leaves that are not Knowledge::unknown, with their FieldInfo.
struct NamedLeaf {
    std::string path;
    FieldInfo info;
    Leaf leaf;
};
[[nodiscard]] std::vector<NamedLeaf> all_leaves(const Machine& machine);

}  // namespace gputomo::machine
