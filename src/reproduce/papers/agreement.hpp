// Decides whether a reproduced value agrees with what the paper printed.
#pragma once

#include "reproduce/papers/paper.hpp"

namespace gputomo::reproduce {

/// The number of decimals with which a number is printed: 2 for 0.23, 0 for 24, 1 for 8.0.
[[nodiscard]] int decimals_of(const Json& number);

/// The value that the reproduced one is compared with: the recipe's `expected`, true for a formula, otherwise the
/// published value.
[[nodiscard]] Json target_of(const Entry& entry);

/// A number agrees with a number if it rounds to the printed digits or lies within the recipe's tolerance, and with a
/// range if it lies inside. Lists agree element by element; where the paper prints one number, each element must agree
/// with it. True, false and text agree only if they are equal.
[[nodiscard]] bool agrees(const Entry& entry, const Value& reproduced);

}  // namespace gputomo::reproduce
