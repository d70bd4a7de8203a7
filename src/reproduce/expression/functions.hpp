// Operators and functions of expressions; one row each.
#pragma once

#include "reproduce/expression/value.hpp"

#include <span>
#include <string_view>

namespace gputomo::reproduce {

struct Function {
    std::string_view name;
    std::size_t least;  ///< arguments
    std::size_t most;
    Value (*apply)(std::span<const Value> arguments);
};

/// Null where there is none. Names of operators are their signs: "+", "==", "and".
[[nodiscard]] const Function* find_function(std::string_view name);

}  // namespace gputomo::reproduce
