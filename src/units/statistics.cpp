#include "units/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <stdexcept>

namespace gputomo {
namespace {

/// The standard deviation of a normal distribution, in units of its median absolute deviation.
constexpr double kSigmaOfMad = 1.4826;
/// Readings beyond this many standard deviations are outliers. Normally distributed jitter exceeds four of them once in
/// 15,000 readings; a smaller number would discard jitter, a larger one keeps delays that are no jitter.
constexpr double kJitterSigmas = 4;

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

std::vector<double> medians_of_elements(const std::vector<double>& readings, std::size_t passes) {
    const std::size_t size = readings.size() / passes;
    std::vector<double> medians, of_one(passes);
    for (std::size_t i = 0; i < size; ++i) {
        for (std::size_t pass = 0; pass < passes; ++pass) of_one[pass] = readings[pass * size + i];
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

std::vector<double> without_outliers(const std::vector<double>& values, double step) {
    const double middle = median(values),
                 reach = std::max(step, kJitterSigmas * kSigmaOfMad * median_deviation(values));
    std::vector<double> kept;
    std::ranges::copy_if(values, std::back_inserter(kept),
                         [&](double value) { return std::abs(value - middle) <= reach; });
    return kept;
}

Location location(const std::vector<double>& values, double step) {
    const auto kept = without_outliers(values, step);
    if (kept.empty()) return {};
    const auto count = static_cast<double>(kept.size());
    const double mean = std::accumulate(kept.begin(), kept.end(), 0.0) / count;
    const double squares = std::accumulate(kept.begin(), kept.end(), 0.0,
                                           [mean](double sum, double v) { return sum + (v - mean) * (v - mean); });
    return {mean, median_of_steps(kept, step), std::sqrt(squares) / count};
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
    double squares = 0;
    for (std::size_t i = 0; i < x.size(); ++i) squares += std::pow(y[i] - at_zero - slope * x[i], 2);
    return {at_zero, slope, n > 2 ? std::sqrt(squares / (n - 2) / (sum_xx - sum_x * sum_x / n)) : 0};
}

Measured summarise(std::span<const double> samples) {
    if (samples.empty()) throw std::logic_error("summarise: no samples");
    const auto [smallest, largest] = std::ranges::minmax(samples);
    return {median({samples.begin(), samples.end()}), smallest, largest};
}

}  // namespace gputomo
