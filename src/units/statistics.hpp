// Robust statistics of latencies.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace gputomo {

/// Quantile q in 0..1 by linear interpolation; 0 for no values.
[[nodiscard]] double quantile(std::vector<double> values, double q);
[[nodiscard]] double median(std::vector<double> values);
/// Part of the values that are larger than `border`; 0 where there are none.
[[nodiscard]] double share_above(const std::vector<double>& values, double border);
/// Of readings of the same elements, `laps` times one after the other: the median of each element.
[[nodiscard]] std::vector<double> medians_of_elements(const std::vector<double>& readings, std::size_t laps);
/// Mean of the values within `reach` of the median: free of outliers, and exact where readings are quantised to steps
/// of `reach`.
[[nodiscard]] double mean_near_median(const std::vector<double>& values, double reach);
/// Median of values that were rounded to steps, as if each lay anywhere within its step.
[[nodiscard]] double median_of_steps(const std::vector<double>& values, double step);
/// Where readings lie that have one true value in common, jitter and steps of the clock aside.
struct Location {
    double mean = 0;
    double median =
        0;  ///< as if each reading lay anywhere within its step; less than the mean where delays add to jitter
    double uncertainty =
        0;  ///< standard deviation of the mean, and four fifths of the median's; 0 where no two readings differ
};
/// Readings that belong together: those farther from the median than jitter reaches, or than a step of the clock, are
/// accidents. Where one reading in fifty is one, all of them on the slow side, the median of all readings lies a
/// hundredth of the distribution too high.
[[nodiscard]] std::vector<double> without_accidents(const std::vector<double>& values, double step);
/// Of the readings that belong together; 0 for none.
[[nodiscard]] Location location(const std::vector<double>& values, double step);
/// Median absolute deviation from the median.
[[nodiscard]] double median_deviation(const std::vector<double>& values);

/// y = at_zero + slope x.
struct StraightLine {
    double at_zero = 0;
    double slope = 0;
    double slope_uncertainty = 0;  ///< standard deviation, from the distances; 0 of two points
};
/// Least squares of the distances along y. As many y as x, and two different x at least.
[[nodiscard]] StraightLine least_squares(std::span<const double> x, std::span<const double> y);

/// A number with its spread over repetitions.
struct Measured {
    double value = 0;
    double low = 0;
    double high = 0;
    [[nodiscard]] double spread() const { return high - low; }
};

/// Median, smallest and largest. Throws std::logic_error for no samples.
[[nodiscard]] Measured summarise(std::span<const double> samples);

}  // namespace gputomo
