// Functions that count transactions and bank conflicts of a warp's access, by the rules of `gputomo predict`.
#pragma once

#include "reproduce/expression/value.hpp"

#include <span>

namespace gputomo::reproduce {

/// transactions(WORDS, SIZE): the threads of a warp access WORDS, one each. Returns the first words of the aligned
/// blocks of SIZE words that they touch, in rising order.
[[nodiscard]] Value transactions_of_words(std::span<const Value> arguments);
/// conflict_ways(WORDS, BANKS): the number of different words in the bank that has the most of WORDS.
[[nodiscard]] Value conflict_ways_of_words(std::span<const Value> arguments);

}  // namespace gputomo::reproduce
