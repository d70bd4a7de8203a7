// Robust statistics of latencies.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace gputomo::deduce {

/// Quantile q in 0..1 by linear interpolation; 0 for no values.
[[nodiscard]] double quantile(std::vector<double> values, double q);
[[nodiscard]] double median(std::vector<double> values);
/// Of readings of the same elements, `laps` times one after the other: the median of each element.
[[nodiscard]] std::vector<double> medians_of_elements(const std::vector<double>& readings, std::size_t laps);
/// Mean of the values within `reach` of the median: free of outliers, and exact where readings are quantised to steps of `reach`.
[[nodiscard]] double mean_near_median(const std::vector<double>& values, double reach);
/// Median of values that were rounded to steps, as if each lay anywhere within its step.
[[nodiscard]] double median_of_steps(const std::vector<double>& values, double step);
/// Mean of the lowest dense cluster of values: of sums of many readings, of which a quarter or more holds no outlier, those that don't.
[[nodiscard]] double mean_of_lowest_cluster(std::vector<double> values);
/// Median absolute deviation from the median.
[[nodiscard]] double median_deviation(const std::vector<double>& values);

}  // namespace gputomo::deduce
