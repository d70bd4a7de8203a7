#include "deduce/series/gain_limit.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace gputomo::deduce {
namespace {

constexpr std::size_t kFewest = 5;
/// As good as all of the largest gain: what noise makes of two equal ones; and what is still not less.
constexpr double kAll = 0.985, kNotLess = 0.95;
/// Gains that stay to this many times the size do not end there: the cache keeps a part of larger ones.
constexpr double kStays = 1.5;
/// A gain is this many times what neighbours differ by from a line, or it is scatter.
constexpr double kScatter = 6;

/// What one value usually lies off the middle of its neighbours.
double scatter_of(std::span<const double> gains) {
    std::vector<double> off;
    for (std::size_t i = 1; i + 1 < gains.size(); ++i)
        off.push_back(std::abs(gains[i] - (gains[i - 1] + gains[i + 1]) / 2));
    std::nth_element(off.begin(), off.begin() + static_cast<std::ptrdiff_t>(off.size() / 2), off.end());
    return off[off.size() / 2];
}

}  // namespace

std::optional<GainLimit> gain_limit(std::span<const double> sizes, std::span<const double> gains) {
    if (sizes.size() < kFewest || gains.size() != sizes.size()) return std::nullopt;
    const double most = *std::max_element(gains.begin(), gains.end());
    const auto index = [&](auto found) { return static_cast<std::size_t>(found - gains.begin()); };
    const auto first =
        index(std::find_if(gains.begin(), gains.end(), [&](double gain) { return gain >= kAll * most; }));
    if (most <= 0 || most < kScatter * scatter_of(gains) || first + 1 >= sizes.size()) return std::nullopt;
    const auto less = index(std::find_if(gains.begin() + static_cast<std::ptrdiff_t>(first), gains.end(),
                                         [&](double gain) { return gain < kNotLess * most; }));
    if (less == sizes.size() || sizes[less] > kStays * sizes[first]) return GainLimit{sizes[first], sizes[first + 1]};
    return GainLimit{sizes[less - 1], sizes[less]};
}

}  // namespace gputomo::deduce
