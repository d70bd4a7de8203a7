#include "history/fleet.hpp"

#include "machine/diff.hpp"
#include "units/statistics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace gputomo::history {
namespace {

using machine::Leaf;

std::optional<double> number(const Leaf& leaf) {
    if (leaf.knowledge != machine::Knowledge::known) return std::nullopt;
    return results::as_number(leaf.value);
}

std::array<double, 2> interval(const Leaf& leaf) {
    const double value = *number(leaf);
    auto [low, high] = leaf.provenance.interval.value_or(std::array{value, value});
    return {std::min(low, value), std::max(high, value)};
}

/// Compares numbers. The spread of the others is the larger of their median interval and three of their standard
/// deviations, which are estimated from the median absolute deviation (MAD).
std::optional<std::string> unlike_numbers(const Leaf& leaf, std::span<const Leaf> others) {
    // One in 370 normally distributed values lies beyond three standard deviations. A smaller limit reports
    // more specimens that are only unusual. The standard deviation of a normal distribution is 1.4826 times its
    // MAD.
    constexpr double kSigmas = 3, kSigmaOfMad = 1.4826;
    std::vector<double> values, widths;
    for (const auto& other : others) {
        const auto value = number(other);
        if (!value) continue;
        const auto [low, high] = interval(other);
        values.push_back(*value);
        widths.push_back(std::max(*value - low, high - *value));
    }
    if (values.size() < 2) return std::nullopt;
    const double centre = median(values);
    std::vector<double> deviations;
    for (const double value : values) deviations.push_back(std::abs(value - centre));
    const double spread = std::max(median(widths), kSigmas * kSigmaOfMad * median(deviations));
    const auto [low, high] = interval(leaf);
    if (low <= centre + spread && high >= centre - spread) return std::nullopt;
    return fmt::format("{:.6g} +- {:.3g} ({} specimens)", centre, spread, values.size());
}

std::optional<std::string> unlike_values(const Leaf& leaf, std::span<const Leaf> others) {
    std::size_t most = 0;
    const Leaf* common = nullptr;
    for (const auto& candidate : others) {
        const auto same = static_cast<std::size_t>(std::count_if(
            others.begin(), others.end(), [&](const Leaf& other) { return machine::same_value(candidate, other, 0); }));
        if (same > most) most = same, common = &candidate;
    }
    if (most < 2 || most * 2 <= others.size() || machine::same_value(leaf, *common, 0)) return std::nullopt;
    return fmt::format("{} ({} of {} specimens)", machine::value_text(*common), most, others.size());
}

}  // namespace

std::optional<std::string> unlike_others(const Leaf& leaf, std::span<const Leaf> others) {
    if (leaf.knowledge == machine::Knowledge::undecided) return std::nullopt;
    const auto numbers = static_cast<std::size_t>(
        std::count_if(others.begin(), others.end(), [](const Leaf& other) { return number(other).has_value(); }));
    return number(leaf) && numbers * 2 > others.size() ? unlike_numbers(leaf, others) : unlike_values(leaf, others);
}

}  // namespace gputomo::history
