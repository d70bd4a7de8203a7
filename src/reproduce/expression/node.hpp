// The syntax tree of an expression.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace gputomo::reproduce {

struct Node {
    enum class Kind : std::uint8_t { number, text, leaf, call };
    Kind kind = Kind::number;
    double number = 0;
    std::string name;  ///< the text, the leaf's path or the function; operators are functions such as "+" and "not"
    std::vector<Node> arguments;
};

}  // namespace gputomo::reproduce
