#include "reproduce/expression/functions.hpp"

#include "reproduce/expression/lane_functions.hpp"
#include "reproduce/expression/model_functions.hpp"
#include "units/statistics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace gputomo::reproduce {
namespace {

using Arguments = std::span<const Value>;
using Numbers = std::vector<double>;

/// Numbers count as equal within this relative difference, because they may come from divisions. It is far above the
/// rounding errors of doubles (1e-16) and far below what measurements distinguish.
constexpr double kRoundingError = 1e-9;

template <class T>
const T& as(const Value& value, std::string_view expected) {
    if (const auto* held = std::get_if<T>(&value)) return *held;
    throw InputError(fmt::format("found {} ({}); expected {}", kind_of(value), text_of(value), expected));
}
double number(const Value& value) { return as<double>(value, "a number"); }
bool flag(const Value& value) { return as<bool>(value, "true or false"); }
const Numbers& numbers(const Value& value) { return as<Numbers>(value, "a list of numbers"); }
const Numbers& filled(const Value& value) {
    const auto& list = numbers(value);
    if (list.empty()) throw NotMeasured("an empty list was measured");
    return list;
}

/// Applies `operation` to two numbers, to a list and a number in either order, or to two lists of equal length. A
/// single argument is subtracted from zero.
template <class Operation>
Value arithmetic(Arguments a, Operation operation) {
    if (a.size() == 1) return operation(0.0, number(a[0]));
    const auto *left = std::get_if<Numbers>(&a[0]), *right = std::get_if<Numbers>(&a[1]);
    if (left == nullptr && right == nullptr) return operation(number(a[0]), number(a[1]));
    if (left != nullptr && right != nullptr && left->size() != right->size())
        throw InputError(
            fmt::format("lists of {} and of {} numbers; expected lists of equal length", left->size(), right->size()));
    const auto element = [](const Numbers* list, const Value& value, std::size_t i) {
        return list != nullptr ? (*list)[i] : number(value);
    };
    Numbers out;
    for (std::size_t i = 0; i < (left != nullptr ? left : right)->size(); ++i)
        out.push_back(operation(element(left, a[0], i), element(right, a[1], i)));
    return out;
}

bool equal(const Value& a, const Value& b) {
    const auto* x = std::get_if<double>(&a);
    const auto* y = std::get_if<double>(&b);
    if (x != nullptr && y != nullptr) return std::abs(*x - *y) <= kRoundingError * std::max(std::abs(*x), std::abs(*y));
    if (a.index() != b.index())
        throw InputError(fmt::format("{} ({}) is compared with {} ({}); expected two values of one kind", kind_of(a),
                                     text_of(a), kind_of(b), text_of(b)));
    return a == b;
}

/// The x and y columns of a curve, which have equal length.
struct Curve {
    const Numbers& x;
    const Numbers& y;
};
Curve curve(Arguments a) {
    const Curve c{filled(a[0]), filled(a[1])};
    if (c.x.size() != c.y.size())
        throw InputError(
            fmt::format("a curve of {} x and {} y values; expected columns of equal length", c.x.size(), c.y.size()));
    return c;
}

/// The x of the first point whose y passes `test`.
template <class Test>
Value first_where(Arguments a, std::string_view what, Test test) {
    const auto c = curve(a);
    for (std::size_t i = 0; i < c.x.size(); ++i)
        if (test(c.y[i])) return c.x[i];
    throw NotMeasured(fmt::format("the curve is nowhere {} {}", what, number(a[2])));
}

/// at(X, Y, x): the y at exactly x.
Value at(Arguments a) {
    const auto c = curve(a);
    const auto found = std::find(c.x.begin(), c.x.end(), number(a[2]));
    if (found == c.x.end()) throw NotMeasured(fmt::format("the curve has no point at {}", number(a[2])));
    return c.y[static_cast<std::size_t>(found - c.x.begin())];
}

/// interpolate(X, Y, x): the y at x, linear between neighbours. X must rise.
Value interpolate(Arguments a) {
    const auto c = curve(a);
    const double x = number(a[2]);
    const auto after = static_cast<std::size_t>(std::lower_bound(c.x.begin(), c.x.end(), x) - c.x.begin());
    if (after == c.x.size() || (after == 0 && c.x.front() != x))
        throw NotMeasured(fmt::format("the curve does not reach {}", x));
    if (c.x[after] == x) return c.y[after];
    const double part = (x - c.x[after - 1]) / (c.x[after] - c.x[after - 1]);
    return c.y[after - 1] + part * (c.y[after] - c.y[after - 1]);
}

/// between(X, Y, low, high): the y of the points with x in [low, high].
Value between(Arguments a) {
    const auto c = curve(a);
    Numbers out;
    for (std::size_t i = 0; i < c.x.size(); ++i)
        if (c.x[i] >= number(a[2]) && c.x[i] <= number(a[3])) out.push_back(c.y[i]);
    if (out.empty()) throw NotMeasured(fmt::format("the curve has no point from {} to {}", number(a[2]), number(a[3])));
    return out;
}

/// where_below(X, Y, limit): the x of the points whose y is below the limit.
Value where_below(Arguments a) {
    const auto c = curve(a);
    Numbers out;
    for (std::size_t i = 0; i < c.x.size(); ++i)
        if (c.y[i] < number(a[2])) out.push_back(c.x[i]);
    return out;
}

/// peak(X, Y): the x of the first point with the largest y.
Value peak(Arguments a) {
    const auto c = curve(a);
    return c.x[static_cast<std::size_t>(std::max_element(c.y.begin(), c.y.end()) - c.y.begin())];
}

Value median(Arguments a) { return gputomo::median(filled(a[0])); }

Value mean(Arguments a) {
    const auto& list = filled(a[0]);
    return std::accumulate(list.begin(), list.end(), 0.0) / static_cast<double>(list.size());
}

Value length(Arguments a) {
    if (const auto* texts = std::get_if<std::vector<std::string>>(&a[0])) return static_cast<double>(texts->size());
    return static_cast<double>(numbers(a[0]).size());
}

Value item(Arguments a) {
    const double index = number(a[1]);
    const auto pick = [&](const auto& list) -> Value {
        if (index < 0 || index >= static_cast<double>(list.size()))
            throw NotMeasured(fmt::format("a list of {} has no element {}", list.size(), index));
        return list[static_cast<std::size_t>(index)];
    };
    if (const auto* texts = std::get_if<std::vector<std::string>>(&a[0])) return pick(*texts);
    return pick(numbers(a[0]));
}

/// contains(LIST, value): whether the text or number is an element of the list.
Value contains(Arguments a) {
    if (const auto* texts = std::get_if<std::vector<std::string>>(&a[0]))
        return std::find(texts->begin(), texts->end(), as<std::string>(a[1], "text")) != texts->end();
    const auto& list = numbers(a[0]);
    return std::find(list.begin(), list.end(), number(a[1])) != list.end();
}

/// when(condition, value): the value if the condition holds; otherwise nothing was measured.
Value when(Arguments a) {
    if (!flag(a[0])) throw NotMeasured("the condition for this value does not hold");
    return a[1];
}

Value list(Arguments a) {
    if (!a.empty() && std::holds_alternative<std::string>(a[0])) {
        std::vector<std::string> texts;
        for (const auto& value : a) texts.push_back(as<std::string>(value, "text"));
        return texts;
    }
    Numbers out;
    for (const auto& value : a) out.push_back(number(value));
    return out;
}

template <class Pick>
Value extreme(Arguments a, Pick pick) {
    if (a.size() == 1) return *pick(filled(a[0]));
    const Numbers all = std::get<Numbers>(list(a));
    return *pick(all);
}

/// Most arguments of list(), max() and min(). No recipe needs as many.
constexpr std::size_t kMany = 64;
constexpr Function kFunctions[] = {
    {"+", 2, 2, [](Arguments a) { return arithmetic(a, [](double x, double y) { return x + y; }); }},
    {"-", 1, 2, [](Arguments a) { return arithmetic(a, [](double x, double y) { return x - y; }); }},
    {"*", 2, 2, [](Arguments a) { return arithmetic(a, [](double x, double y) { return x * y; }); }},
    {"/", 2, 2, [](Arguments a) { return arithmetic(a, [](double x, double y) { return x / y; }); }},
    {"==", 2, 2, [](Arguments a) -> Value { return equal(a[0], a[1]); }},
    {"!=", 2, 2, [](Arguments a) -> Value { return !equal(a[0], a[1]); }},
    {"<", 2, 2, [](Arguments a) -> Value { return number(a[0]) < number(a[1]); }},
    {">", 2, 2, [](Arguments a) -> Value { return number(a[0]) > number(a[1]); }},
    {"<=", 2, 2, [](Arguments a) -> Value { return number(a[0]) <= number(a[1]); }},
    {">=", 2, 2, [](Arguments a) -> Value { return number(a[0]) >= number(a[1]); }},
    {"and", 2, 2, [](Arguments a) -> Value { return flag(a[0]) && flag(a[1]); }},
    {"or", 2, 2, [](Arguments a) -> Value { return flag(a[0]) || flag(a[1]); }},
    {"not", 1, 1, [](Arguments a) -> Value { return !flag(a[0]); }},
    {"at", 3, 3, at},
    {"between", 4, 4, between},
    {"conflict_ways", 2, 2, conflict_ways_of_words},
    {"contains", 2, 2, contains},
    {"first_above", 3, 3,
     [](Arguments a) { return first_where(a, "above", [&](double y) { return y > number(a[2]); }); }},
    {"first_below", 3, 3,
     [](Arguments a) { return first_where(a, "below", [&](double y) { return y < number(a[2]); }); }},
    {"floor", 1, 1, [](Arguments a) -> Value { return std::floor(number(a[0])); }},
    {"interpolate", 3, 3, interpolate},
    {"item", 2, 2, item},
    {"length", 1, 1, length},
    {"list", 0, kMany, list},
    {"max", 1, kMany,
     [](Arguments a) {
         return extreme(a, [](const Numbers& all) { return std::max_element(all.begin(), all.end()); });
     }},
    {"mean", 1, 1, mean},
    {"median", 1, 1, median},
    {"min", 1, kMany,
     [](Arguments a) {
         return extreme(a, [](const Numbers& all) { return std::min_element(all.begin(), all.end()); });
     }},
    {"model", 4, 5, model_value},
    {"model_needed", 3, 3, model_needed_warps},
    {"peak", 2, 2, peak},
    {"power", 2, 2, [](Arguments a) -> Value { return std::pow(number(a[0]), number(a[1])); }},
    {"round", 1, 1, [](Arguments a) -> Value { return std::nearbyint(number(a[0])); }},
    {"sum", 1, 1, [](Arguments a) -> Value { return std::accumulate(filled(a[0]).begin(), filled(a[0]).end(), 0.0); }},
    {"transactions", 2, 2, transactions_of_words},
    {"when", 2, 2, when},
    {"where_below", 3, 3, where_below},
};

}  // namespace

const Function* find_function(std::string_view name) {
    const auto* found =
        std::find_if(std::begin(kFunctions), std::end(kFunctions), [&](const Function& f) { return f.name == name; });
    return found == std::end(kFunctions) ? nullptr : found;
}

}  // namespace gputomo::reproduce
