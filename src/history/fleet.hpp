// Compares one leaf of a specimen with those of the other specimens of its kind (the fleet).
#pragma once

#include "machine/paths.hpp"

#include <optional>
#include <span>
#include <string>

namespace gputomo::history {

/// Says in words what the other specimens have if `leaf` differs from it. Returns nothing if it does not differ, or if
/// the others do not agree among themselves. `others` are known or absent leaves of the same path, without `leaf`.
[[nodiscard]] std::optional<std::string> unlike_others(const machine::Leaf& leaf,
                                                       std::span<const machine::Leaf> others);

}  // namespace gputomo::history
