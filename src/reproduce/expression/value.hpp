// What a published entry or an expression over measurements has for a value.
#pragma once

#include "results/estimate.hpp"
#include "units/error.hpp"

#include <nlohmann/json.hpp>

#include <string>
#include <variant>
#include <vector>

namespace gputomo::reproduce {

using Json = nlohmann::ordered_json;

/// Numbers are not told apart by type: a paper's 24 is a measurement's 24.0.
using Value = std::variant<bool, double, std::string, std::vector<double>, std::vector<std::string>>;

/// Nothing was measured, or not decided, that an expression needs. `what()` says which.
class NotMeasured : public Error {
public:
    using Error::Error;
};

[[nodiscard]] Value value_of(const results::Value& measured);

/// Whole numbers without a point, others to nine digits.
[[nodiscard]] Json to_json(const Value& value);
/// The same for people: text without quotes, lists in brackets.
[[nodiscard]] std::string text_of(const Value& value);
[[nodiscard]] std::string text_of(const Json& value);

/// "a number", "text", ...
[[nodiscard]] std::string_view kind_of(const Value& value);

}  // namespace gputomo::reproduce
