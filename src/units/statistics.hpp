// Robust statistics of latency samples: medians, trimmed means, least squares.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace gputomo {

/// Quantile `q` in 0..1, by linear interpolation between neighbouring values; 0 for no values.
[[nodiscard]] double quantile(std::vector<double> values, double q);
/// The middle value, or the mean of the two middle ones; 0 for no values.
[[nodiscard]] double median(std::vector<double> values);
/// The share of the values, 0..1, that are larger than `border`; 0 for no values.
[[nodiscard]] double share_above(const std::vector<double>& values, double border);
/// The median of each element over several passes. `readings` holds the passes one after the other, each with all
/// elements in the same order.
[[nodiscard]] std::vector<double> medians_of_elements(const std::vector<double>& readings, std::size_t passes);
/// The mean of the values within `reach` of the median. Outliers do not change it, and it is exact where readings are
/// quantised to steps of `reach`.
[[nodiscard]] double mean_near_median(const std::vector<double>& values, double reach);
/// The median of values that were rounded to multiples of `step`, as if the values of each step were spread evenly
/// over it.
[[nodiscard]] double median_of_steps(const std::vector<double>& values, double step);

/// Where readings of one true value lie, free of jitter and of the steps of the clock.
struct Location {
    double mean = 0;
    /// As if the readings of each clock step were spread evenly over it. It is less than the mean where delays add to
    /// the jitter.
    double median = 0;
    /// Standard deviation of the mean, which is 4/5 of the median's; 0 where no two readings differ.
    double uncertainty = 0;
};
/// The readings without outliers: those whose distance to the median exceeds both `step`, a step of the clock, and four
/// standard deviations of the jitter. Outliers are nearly always slow, so they shift the median of all readings: where
/// 2% of the readings are outliers, that median is the 51% quantile of the others.
[[nodiscard]] std::vector<double> without_outliers(const std::vector<double>& values, double step);
/// The location of the readings that are no outliers; zeros for no readings.
[[nodiscard]] Location location(const std::vector<double>& values, double step);
/// The median absolute deviation from the median.
[[nodiscard]] double median_deviation(const std::vector<double>& values);

/// y = at_zero + slope x.
struct StraightLine {
    double at_zero = 0;
    double slope = 0;
    double slope_uncertainty = 0;  ///< standard deviation, from the residuals; 0 for a line through two points
};
/// Fits a line by the least squares of the residuals in y. Needs as many y as x, and at least two different x.
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
