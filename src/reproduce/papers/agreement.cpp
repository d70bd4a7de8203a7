#include "reproduce/papers/agreement.hpp"

#include <algorithm>
#include <cmath>

namespace gputomo::reproduce {
namespace {

/// How far a number may be from the printed one, in units of the last printed digit. The excess over 0.5 lets a value
/// half-way between two digits, which came from a division, round to either.
constexpr double kHalf = 0.5 + 1e-6;

bool number_agrees(const Json& printed, double reproduced, double tolerance) {
    const double number = printed.get<double>();
    if (std::abs(reproduced - number) <= kHalf * std::pow(10.0, -decimals_of(printed))) return true;
    return std::abs(reproduced - number) <= tolerance * std::abs(number);
}

bool is_pair(const Json& printed) {
    return printed.is_array() && printed.size() == 2 && printed[0].is_number() && printed[1].is_number();
}

bool list_agrees(const Json& printed, const std::vector<double>& reproduced, double tolerance) {
    if (printed.is_number())
        return !reproduced.empty() && std::all_of(reproduced.begin(), reproduced.end(), [&](double number) {
            return number_agrees(printed, number, tolerance);
        });
    if (!printed.is_array() || printed.size() != reproduced.size()) return false;
    for (std::size_t i = 0; i < reproduced.size(); ++i)
        if (!printed[i].is_number() || !number_agrees(printed[i], reproduced[i], tolerance)) return false;
    return true;
}

}  // namespace

int decimals_of(const Json& number) {
    const auto text = number.dump();
    if (text.find('e') != std::string::npos) return 0;
    const auto point = text.find('.');
    return point == std::string::npos ? 0 : static_cast<int>(text.size() - point - 1);
}

Json target_of(const Entry& entry) {
    if (entry.recipe && !entry.recipe->expected.is_null()) return entry.recipe->expected;
    return entry.kind == "formula" ? Json(true) : entry.value;
}

bool agrees(const Entry& entry, const Value& reproduced) {
    const Json target = target_of(entry);
    const double tolerance = entry.recipe ? entry.recipe->tolerance : 0;
    if (const auto* number = std::get_if<double>(&reproduced)) {
        if (target.is_number()) return number_agrees(target, *number, tolerance);
        if (!is_pair(target)) return false;
        const double low = target[0].get<double>(), high = target[1].get<double>();
        return *number >= low * (1 - tolerance) && *number <= high * (1 + tolerance);
    }
    if (const auto* list = std::get_if<std::vector<double>>(&reproduced)) return list_agrees(target, *list, tolerance);
    return to_json(reproduced) == target;
}

}  // namespace gputomo::reproduce
