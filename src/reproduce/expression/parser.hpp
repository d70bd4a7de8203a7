// Parses expressions: text in, syntax tree out.
#pragma once

#include "reproduce/expression/node.hpp"
#include "reproduce/expression/predict_functions.hpp"

#include <string_view>

namespace gputomo::reproduce {

/// The first argument of each predict() in the tree is the listing's machine code instead of its name. Throws
/// InputError that quotes the text and says at which character it goes wrong and what was expected. A leaf that no
/// machine description has and a function that does not exist are errors too.
[[nodiscard]] Node parse(std::string_view text, const Listings& listings);

}  // namespace gputomo::reproduce
