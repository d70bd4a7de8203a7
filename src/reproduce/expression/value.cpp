#include "reproduce/expression/value.hpp"

#include "reproduce/expression/value_json.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <array>
#include <cmath>

namespace gputomo::reproduce {
namespace {

/// A double holds every whole number up to 2^53 exactly; larger ones are written as other numbers are.
constexpr double kLargestWhole = 9007199254740992.0;

Json number_json(double number) {
    if (std::nearbyint(number) == number && std::abs(number) <= kLargestWhole) return static_cast<std::int64_t>(number);
    return std::stod(fmt::format("{:.9g}", number));
}

}  // namespace

Value value_of(const results::Value& measured) {
    return std::visit(
        [](const auto& value) -> Value {
            using T = std::remove_cvref_t<decltype(value)>;
            if constexpr (std::is_same_v<T, std::int64_t>)
                return static_cast<double>(value);
            else if constexpr (std::is_same_v<T, std::vector<std::int64_t>>)
                return std::vector<double>(value.begin(), value.end());
            else
                return value;
        },
        measured);
}

Json to_json(const Value& value) {
    return std::visit(
        [](const auto& v) -> Json {
            using T = std::remove_cvref_t<decltype(v)>;
            if constexpr (std::is_same_v<T, double>) {
                return number_json(v);
            } else if constexpr (std::is_same_v<T, std::vector<double>>) {
                Json list = Json::array();
                for (const double number : v) list.push_back(number_json(number));
                return list;
            } else {
                return v;
            }
        },
        value);
}

std::string text_of(const Json& value) {
    if (value.is_string()) return value.get<std::string>();
    if (value.is_null()) return "-";
    if (!value.is_array()) return value.dump();
    std::string out;
    for (const auto& element : value) out += (out.empty() ? "" : ", ") + text_of(element);
    return "[" + out + "]";
}

std::string text_of(const Value& value) { return text_of(to_json(value)); }

std::string_view kind_of(const Value& value) {
    static constexpr std::array<std::string_view, 5> kKinds{"true or false", "a number", "text", "a list of numbers",
                                                            "a list of texts"};
    return kKinds.at(value.index());
}

}  // namespace gputomo::reproduce
