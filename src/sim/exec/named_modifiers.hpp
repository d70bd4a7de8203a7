// Looks up the modifiers of a PTX instruction in tables of names.
#pragma once

#include "ptx/ir.hpp"

#include <cstddef>
#include <optional>
#include <string_view>

namespace gputomo::sim {

template <class E>
struct Named {
    std::string_view name;
    E value;
};

/// The first row of the table whose name is a modifier of the instruction.
template <class E, std::size_t n>
std::optional<E> first_named(const ptx::Instruction& instruction, const Named<E> (&table)[n]) {
    for (const auto& row : table)
        if (instruction.has(row.name)) return row.value;
    return std::nullopt;
}

}  // namespace gputomo::sim
