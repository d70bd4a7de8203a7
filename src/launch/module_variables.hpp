// Where a cubin keeps the variables of its module.
#pragma once

#include "sass/cubin.hpp"

#include <cstddef>
#include <optional>
#include <string_view>

namespace gputomo::launch {

/// The number of a section with constants of the whole module, 3 of ".nv.constant3"; nullopt for others.
[[nodiscard]] std::optional<std::size_t> constant_bank(std::string_view section);

/// A variable that lies in the file.
[[nodiscard]] std::optional<sass::Cubin::Symbol> symbol_of(const sass::Cubin& cubin, std::string_view name);

}  // namespace gputomo::launch
