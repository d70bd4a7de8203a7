// What accesses of a warp touch, in expressions: the rules by which `gputomo predict` counts transactions and bank
// conflicts.
#pragma once

#include "reproduce/expression/value.hpp"

#include <span>

namespace gputomo::reproduce {

/// transactions(WORDS, SIZE): first words of the aligned blocks of SIZE words that threads which access these words
/// touch, rising.
[[nodiscard]] Value transactions_of_words(std::span<const Value> arguments);
/// conflict_ways(WORDS, BANKS): different words of the bank of which threads access most.
[[nodiscard]] Value conflict_ways_of_words(std::span<const Value> arguments);

}  // namespace gputomo::reproduce
