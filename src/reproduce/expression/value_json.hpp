// Values as JSON: papers store published values so, and results are written so.
#pragma once

#include "reproduce/expression/value.hpp"

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace gputomo::reproduce {

using Json = nlohmann::ordered_json;

/// Whole numbers without a point, others to nine digits.
[[nodiscard]] Json to_json(const Value& value);
/// For people: text without quotes, lists in brackets, "-" for null.
[[nodiscard]] std::string text_of(const Json& value);

}  // namespace gputomo::reproduce
