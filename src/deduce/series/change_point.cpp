#include "deduce/series/change_point.hpp"

#include "units/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace gputomo::deduce {
namespace {

/// Line, step height and step position leave nothing to estimate scatter from with fewer values.
constexpr std::size_t kFewestValues = 5;
/// A significant step is this many standard errors high. The fit takes the best of all positions, and six standard
/// errors are beyond scatter even for the best of a thousand.
constexpr double kStandardErrors = 6;
/// A rise of at least this share of the largest one is a stair. Chosen by hand: above 0.5, so that one of two equal
/// stairs is not missed for scatter, and well below 1 for stairs that scatter makes unequal.
constexpr double kAsLarge = 0.55;
/// A significant jump exceeds this many times the median absolute rise. The median is capped at `kShareOfFirstValue` of
/// the first value, because in a staircase of narrow stairs it is a stair itself. Chosen by hand.
constexpr double kUsualJumps = 4;
constexpr double kShareOfFirstValue = 0.02;
/// Clocks count whole cycles, so rounding alone makes steps of one.
constexpr double kLeastHeight = 2;

/// The least-squares fit of y = constant + slope x + height h(x), computed from deviations from the means.
struct Regression {
    double slope = 0;
    double height = 0;
    double residual = 0;  ///< sum of the squared residuals
    double error = 0;     ///< standard error of the height
};

template <class Steps>
Regression regress(std::span<const double> x, std::span<const double> y, const Steps& steps) {
    const auto n = static_cast<double>(x.size());
    double mean_x = 0, mean_y = 0, mean_h = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
        mean_x += x[i] / n;
        mean_y += y[i] / n;
        mean_h += steps(i) / n;
    }
    double xx = 0, xh = 0, hh = 0, xy = 0, hy = 0, yy = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
        const double dx = x[i] - mean_x, dy = y[i] - mean_y, dh = steps(i) - mean_h;
        xx += dx * dx;
        xh += dx * dh;
        hh += dh * dh;
        xy += dx * dy;
        hy += dh * dy;
        yy += dy * dy;
    }
    const double determinant = xx * hh - xh * xh;
    if (determinant <= 0) return {xx > 0 ? xy / xx : 0, 0, xx > 0 ? std::max(0.0, yy - xy * xy / xx) : yy, 0};
    const double slope = (xy * hh - hy * xh) / determinant;
    const double height = (hy * xx - xy * xh) / determinant;
    const double residual = std::max(0.0, yy - slope * xy - height * hy);
    return {slope, height, residual, std::sqrt(residual / std::max(1.0, n - 3) * xx / determinant)};
}

}  // namespace

std::optional<Step> best_step(std::span<const double> x, std::span<const double> y) {
    if (x.size() != y.size() || x.size() < kFewestValues) return std::nullopt;
    std::size_t best = 1;
    const auto regress_at = [&](std::size_t split) {
        return regress(x, y, [&](std::size_t i) { return i >= split ? 1.0 : 0.0; });
    };
    Regression kept = regress_at(1);
    for (std::size_t split = 2; split < x.size(); ++split) {
        const Regression tried = regress_at(split);
        if (tried.residual >= kept.residual) continue;
        best = split;
        kept = tried;
    }
    return Step{x[best - 1], x[best], kept.height,
                kept.height >= kLeastHeight && kept.height > kStandardErrors * kept.error};
}

std::optional<Stairs> best_stairs(std::span<const double> x, std::span<const double> y) {
    if (x.size() != y.size() || y.size() < kFewestValues) return std::nullopt;
    const auto root_mean = [&](const Regression& r) { return std::sqrt(r.residual / static_cast<double>(y.size())); };
    const Regression line = regress(x, y, [](std::size_t) { return 0.0; });
    Stairs best{.error = root_mean(line), .error_of_line = root_mean(line)};
    // Steps of width 1 are part of the slope.
    for (int width = 2; width + 2 < static_cast<int>(x.back()); ++width) {
        const Regression tried = regress(x, y, [&](std::size_t i) { return std::floor((x[i] - 1) / width); });
        if (tried.height <= 0 || root_mean(tried) >= best.error) continue;
        best = {width, tried.height, tried.height >= kLeastHeight && tried.height > kStandardErrors * tried.error,
                root_mean(tried), best.error_of_line};
    }
    return best;
}

std::optional<Step> first_jump(std::span<const double> x, std::span<const double> y) {
    if (x.size() != y.size() || x.size() < kFewestValues) return std::nullopt;
    std::vector<double> rises;
    std::vector<double> sizes;
    for (std::size_t i = 1; i < y.size(); ++i) {
        rises.push_back(y[i] - y[i - 1]);
        sizes.push_back(std::abs(rises.back()));
    }
    const double largest = *std::max_element(rises.begin(), rises.end());
    const auto first =
        std::find_if(rises.begin(), rises.end(), [&](double rise) { return rise >= kAsLarge * largest; });
    const auto at = static_cast<std::size_t>(first - rises.begin());
    const double usual = std::min(median(sizes), kShareOfFirstValue * y[0]);
    return Step{x[at], x[at + 1], rises[at], largest > kLeastHeight + kUsualJumps * usual};
}

}  // namespace gputomo::deduce
