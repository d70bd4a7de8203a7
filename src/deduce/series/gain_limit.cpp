#include "deduce/series/gain_limit.hpp"

#include "units/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

namespace gputomo::deduce {
namespace {

// The shares below are chosen by hand; the limit that they find is exact only to the spacing of the sizes.

/// With fewer sizes, growth, limit and scatter are not distinguished.
constexpr std::size_t kFewestGains = 5;
/// Gains from this share of the largest one on are as large as it: noise alone makes two equal gains differ this much.
constexpr double kAll = 0.985;
/// A gain below this share of the largest one has fallen again. It lies below `kAll`, so that noise is not a fall.
constexpr double kNotLess = 0.95;
/// The gain falls at the limit if it does so within this many times the size at which it became full. A gain that stays
/// longer is a plateau: the cache keeps a share of larger arrays, and the limit is where the plateau begins.
constexpr double kPlateau = 1.5;
/// A gain must exceed this many times the scatter of the curve. A smaller value takes noise for a cache.
constexpr double kScatter = 6;

/// Median distance of a value from the mean of its two neighbours.
double scatter_of(std::span<const double> gains) {
    std::vector<double> off;
    for (std::size_t i = 1; i + 1 < gains.size(); ++i)
        off.push_back(std::abs(gains[i] - (gains[i - 1] + gains[i + 1]) / 2));
    return median(std::move(off));
}

}  // namespace

std::optional<GainLimit> gain_limit(std::span<const double> sizes, std::span<const double> gains) {
    if (sizes.size() < kFewestGains || gains.size() != sizes.size()) return std::nullopt;
    const double most = *std::max_element(gains.begin(), gains.end());
    const auto index = [&](auto found) { return static_cast<std::size_t>(found - gains.begin()); };
    const auto first =
        index(std::find_if(gains.begin(), gains.end(), [&](double gain) { return gain >= kAll * most; }));
    if (most <= 0 || most < kScatter * scatter_of(gains) || first + 1 >= sizes.size()) return std::nullopt;
    const auto less = index(std::find_if(gains.begin() + static_cast<std::ptrdiff_t>(first), gains.end(),
                                         [&](double gain) { return gain < kNotLess * most; }));
    if (less == sizes.size() || sizes[less] > kPlateau * sizes[first]) return GainLimit{sizes[first], sizes[first + 1]};
    return GainLimit{sizes[less - 1], sizes[less]};
}

}  // namespace gputomo::deduce
