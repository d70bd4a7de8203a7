// The values that an expression can have.
#pragma once

#include "results/estimate.hpp"
#include "units/error.hpp"

#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace gputomo::reproduce {

/// Whole and other numbers are one type, so that a paper's 24 equals a measurement's 24.0.
using Value = std::variant<bool, double, std::string, std::vector<double>, std::vector<std::string>>;

/// Something that an expression reads was not measured, or stayed undecided; what() says which.
class NotMeasured : public Error {
public:
    using Error::Error;
};

[[nodiscard]] Value value_of(const results::Value& measured);

/// For people: text without quotes, lists in brackets, whole numbers without a point and others to nine digits.
[[nodiscard]] std::string text_of(const Value& value);

/// "a number", "text", ...
[[nodiscard]] std::string_view kind_of(const Value& value);

}  // namespace gputomo::reproduce
