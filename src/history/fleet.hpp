// One leaf over a fleet: which specimens differ from the rest.
#pragma once

#include "machine/paths.hpp"

#include <optional>
#include <span>
#include <string>

namespace gputomo::history {

/// What the others of the fleet have, in words, where `leaf` differs from it; nothing where it doesn't, or where the
/// others don't agree among themselves. `others` are known or absent leaves of the same path, without `leaf`.
[[nodiscard]] std::optional<std::string> unlike_others(const machine::Leaf& leaf,
                                                       std::span<const machine::Leaf> others);

}  // namespace gputomo::history
