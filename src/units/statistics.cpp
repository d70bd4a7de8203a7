#include "units/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <stdexcept>

namespace gputomo {
namespace {

/// Standard deviation of a normal distribution, in median deviations.
constexpr double kDeviation = 1.4826;
/// Jitter keeps within so many standard deviations but for one reading in fifteen thousand.
constexpr double kJitterReach = 4;

}  // namespace

double quantile(std::vector<double> values, double q) {
    if (values.empty()) return 0;
    const double position = q * static_cast<double>(values.size() - 1);
    const auto below = static_cast<std::size_t>(position);
    std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(below), values.end());
    const double low = values[below];
    if (below + 1 == values.size()) return low;
    const double high = *std::min_element(values.begin() + static_cast<std::ptrdiff_t>(below) + 1, values.end());
    return low + (high - low) * (position - static_cast<double>(below));
}

double share_above(const std::vector<double>& values, double border) {
    const auto above = std::ranges::count_if(values, [border](double value) { return value > border; });
    return static_cast<double>(above) / static_cast<double>(std::max<std::size_t>(1, values.size()));
}

double median(std::vector<double> values) { return quantile(std::move(values), 0.5); }

std::vector<double> medians_of_elements(const std::vector<double>& readings, std::size_t laps) {
    const std::size_t size = readings.size() / laps;
    std::vector<double> medians, of_one(laps);
    for (std::size_t i = 0; i < size; ++i) {
        for (std::size_t lap = 0; lap < laps; ++lap) of_one[lap] = readings[lap * size + i];
        medians.push_back(median(of_one));
    }
    return medians;
}

double mean_near_median(const std::vector<double>& values, double reach) {
    const double middle = median(values);
    double sum = 0;
    std::size_t count = 0;
    for (const double value : values) {
        if (std::abs(value - middle) > reach) continue;
        sum += value;
        ++count;
    }
    return count == 0 ? middle : sum / static_cast<double>(count);
}

double median_of_steps(const std::vector<double>& values, double step) {
    const double middle = median(values);
    std::size_t below = 0, within = 0;
    for (const double value : values) {
        below += value < middle - step / 2 ? 1 : 0;
        within += std::abs(value - middle) <= step / 2 ? 1 : 0;
    }
    if (within == 0) return middle;
    return middle - step / 2 +
           step * (static_cast<double>(values.size()) / 2 - static_cast<double>(below)) / static_cast<double>(within);
}

std::vector<double> without_accidents(const std::vector<double>& values, double step) {
    const double middle = median(values), reach = std::max(step, kJitterReach * kDeviation * median_deviation(values));
    std::vector<double> together;
    std::ranges::copy_if(values, std::back_inserter(together),
                         [&](double value) { return std::abs(value - middle) <= reach; });
    return together;
}

Location location(const std::vector<double>& values, double step) {
    const auto together = without_accidents(values, step);
    if (together.empty()) return {};
    const auto count = static_cast<double>(together.size());
    const double mean = std::accumulate(together.begin(), together.end(), 0.0) / count;
    const double squares = std::accumulate(together.begin(), together.end(), 0.0,
                                           [mean](double sum, double v) { return sum + (v - mean) * (v - mean); });
    return {mean, median_of_steps(together, step), std::sqrt(squares) / count};
}

double median_deviation(const std::vector<double>& values) {
    const double middle = median(values);
    std::vector<double> deviations;
    deviations.reserve(values.size());
    for (const double v : values) deviations.push_back(std::abs(v - middle));
    return median(std::move(deviations));
}

StraightLine least_squares(std::span<const double> x, std::span<const double> y) {
    const auto n = static_cast<double>(x.size());
    double sum_x = 0, sum_y = 0, sum_xx = 0, sum_xy = 0;
    for (std::size_t i = 0; i < x.size(); ++i)
        sum_x += x[i], sum_y += y[i], sum_xx += x[i] * x[i], sum_xy += x[i] * y[i];
    const double slope = (n * sum_xy - sum_x * sum_y) / (n * sum_xx - sum_x * sum_x);
    const double at_zero = (sum_y - slope * sum_x) / n;
    double distances = 0;
    for (std::size_t i = 0; i < x.size(); ++i) distances += std::pow(y[i] - at_zero - slope * x[i], 2);
    return {at_zero, slope, n > 2 ? std::sqrt(distances / (n - 2) / (sum_xx - sum_x * sum_x / n)) : 0};
}

Measured summarise(std::span<const double> samples) {
    if (samples.empty()) throw std::logic_error("summarise: no samples");
    const auto [smallest, largest] = std::ranges::minmax(samples);
    return {median({samples.begin(), samples.end()}), smallest, largest};
}

}  // namespace gputomo
