// The operators and functions that compute a value from values; one row each.
#pragma once

#include "reproduce/expression/value.hpp"

#include <span>
#include <string_view>

namespace gputomo::reproduce {

struct Function {
    std::string_view name;
    std::size_t least;  ///< fewest arguments
    std::size_t most;   ///< most arguments
    Value (*apply)(std::span<const Value> arguments);
};

/// Null where the function does not exist. Operators are named by their signs: "+", "==", "and".
[[nodiscard]] const Function* find_function(std::string_view name);

}  // namespace gputomo::reproduce
