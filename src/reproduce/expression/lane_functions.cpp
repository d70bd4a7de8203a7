#include "reproduce/expression/lane_functions.hpp"

#include "predict/static/lane_accesses.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <vector>

namespace gputomo::reproduce {
namespace {

std::int64_t whole(double number, double least) {
    constexpr double kMost = 1e9;
    if (std::floor(number) != number || number < least || number > kMost)
        throw InputError(fmt::format("found {}; expected a whole number from {} to {}", number, least, kMost));
    return static_cast<std::int64_t>(number);
}

std::vector<std::int64_t> words_of(const Value& value) {
    const auto* numbers = std::get_if<std::vector<double>>(&value);
    if (numbers == nullptr)
        throw InputError(fmt::format("found {} ({}); expected a list of words", kind_of(value), text_of(value)));
    std::vector<std::int64_t> words;
    for (const double number : *numbers) words.push_back(whole(number, 0));
    return words;
}

std::int64_t count_of(const Value& value) {
    const auto* number = std::get_if<double>(&value);
    if (number == nullptr)
        throw InputError(fmt::format("found {} ({}); expected a number", kind_of(value), text_of(value)));
    return whole(*number, 1);
}

}  // namespace

Value transactions_of_words(std::span<const Value> arguments) {
    const auto size = count_of(arguments[1]);
    std::vector<double> first_words;
    for (const auto block : predict::blocks_touched(words_of(arguments[0]), 1, size))
        first_words.push_back(static_cast<double>(block * size));
    return first_words;
}

Value conflict_ways_of_words(std::span<const Value> arguments) {
    return static_cast<double>(predict::conflict_ways(words_of(arguments[0]), 1, count_of(arguments[1]), 1));
}

}  // namespace gputomo::reproduce
