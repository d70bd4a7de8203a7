#include "deduce/change_point.hpp"

#include "deduce/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace gputomo::deduce {
namespace {

constexpr std::size_t kFewest = 5;
/// Standard errors of a step's height that scatter does not reach, even as the best of a thousand places.
constexpr double kStandardErrors = 6;
/// Rises that are at least this large against the largest count as stairs.
constexpr double kAsLarge = 0.55;
/// The largest rise is this many times the usual one, and more; the usual one counts up to this share of the first value.
constexpr double kUsualRises = 4;
constexpr double kShareOfFirst = 0.02;
/// Clocks count whole cycles: a step is at least two of them.
constexpr double kLeastHeight = 2;

/// Sums for the regression of y on x and on a step h (0 or 1), all taken from their means.
struct Regression {
    double slope = 0;
    double height = 0;
    double residual = 0;  ///< sum of squares
    double error = 0;     ///< standard error of the height
};

Regression regress(std::span<const double> x, std::span<const double> y, std::size_t split) {
    const auto n = static_cast<double>(x.size());
    const double share = (n - static_cast<double>(split)) / n;
    double mean_x = 0;
    double mean_y = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
        mean_x += x[i] / n;
        mean_y += y[i] / n;
    }
    double xx = 0, xh = 0, hh = 0, xy = 0, hy = 0, yy = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
        const double dx = x[i] - mean_x, dy = y[i] - mean_y, dh = (i >= split ? 1 : 0) - share;
        xx += dx * dx;
        xh += dx * dh;
        hh += dh * dh;
        xy += dx * dy;
        hy += dh * dy;
        yy += dy * dy;
    }
    const double determinant = xx * hh - xh * xh;
    if (determinant <= 0) return {0, 0, yy, 0};
    const double slope = (xy * hh - hy * xh) / determinant;
    const double height = (hy * xx - xy * xh) / determinant;
    const double residual = std::max(0.0, yy - slope * xy - height * hy);
    return {slope, height, residual, std::sqrt(residual / std::max(1.0, n - 3) * xx / determinant)};
}

}  // namespace

std::optional<Step> best_step(std::span<const double> x, std::span<const double> y) {
    if (x.size() != y.size() || x.size() < kFewest) return std::nullopt;
    std::size_t best = 1;
    Regression kept = regress(x, y, 1);
    for (std::size_t split = 2; split < x.size(); ++split) {
        const Regression tried = regress(x, y, split);
        if (tried.residual >= kept.residual) continue;
        best = split;
        kept = tried;
    }
    return Step{x[best - 1], x[best], kept.height, kept.height >= kLeastHeight && kept.height > kStandardErrors * kept.error};
}

std::optional<Step> first_jump(std::span<const double> x, std::span<const double> y) {
    if (x.size() != y.size() || x.size() < kFewest) return std::nullopt;
    std::vector<double> rises;
    std::vector<double> sizes;
    for (std::size_t i = 1; i < y.size(); ++i) {
        rises.push_back(y[i] - y[i - 1]);
        sizes.push_back(std::abs(rises.back()));
    }
    const double largest = *std::max_element(rises.begin(), rises.end());
    const auto first = std::find_if(rises.begin(), rises.end(), [&](double rise) { return rise >= kAsLarge * largest; });
    const auto at = static_cast<std::size_t>(first - rises.begin());
    // In a staircase of narrow stairs most values rise by a stair; the first value bounds what is usual.
    const double usual = std::min(median(sizes), kShareOfFirst * y[0]);
    return Step{x[at], x[at + 1], rises[at], largest > kLeastHeight + kUsualRises * usual};
}

}  // namespace gputomo::deduce
