// Does a reproduced value say what the paper printed?
#pragma once

#include "reproduce/papers/paper.hpp"

namespace gputomo::reproduce {

/// Decimals that the printed number has: 2 for 0.23, 0 for 24, 1 for 8.0.
[[nodiscard]] int decimals_of(const Json& number);

/// The value that the reproduced one is held against: the recipe's `expected`, true for a formula, else what was
/// published.
[[nodiscard]] Json target_of(const Entry& entry);

/// A number agrees when it rounds to the printed digits, or is within the recipe's tolerance; with a published range,
/// when it lies in it. Lists agree element by element, where the paper has one number for all of them each with it.
/// True, false and text only with the same.
[[nodiscard]] bool agrees(const Entry& entry, const Value& reproduced);

}  // namespace gputomo::reproduce
