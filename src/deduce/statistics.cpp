#include "deduce/statistics.hpp"

#include <algorithm>
#include <cmath>

namespace gputomo::deduce {
namespace {

/// A window no longer than this many times the shortest is as dense: a quarter of the values may be nearly all of the lowest cluster, and half of the next.
constexpr double kNearlyShortest = 4;

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
    return middle - step / 2 + step * (static_cast<double>(values.size()) / 2 - static_cast<double>(below)) / static_cast<double>(within);
}

double mean_of_lowest_cluster(std::vector<double> values) {
    if (values.empty()) return 0;
    std::ranges::sort(values);
    // The lowest window that holds a quarter of the values and is nearly as short as any; what lies within its width around it belongs to it.
    const std::size_t quarter = std::max<std::size_t>(1, values.size() / 4);
    const auto width = [&](std::size_t first) { return values[first + quarter - 1] - values[first]; };
    double shortest = width(0);
    for (std::size_t first = 1; first + quarter <= values.size(); ++first) shortest = std::min(shortest, width(first));
    std::size_t best = 0;
    while (width(best) > kNearlyShortest * shortest) ++best;
    const double low = values[best] - width(best), high = values[best + quarter - 1] + width(best);
    double sum = 0;
    std::size_t count = 0;
    for (const double value : values) {
        if (value < low || value > high) continue;
        sum += value;
        ++count;
    }
    return sum / static_cast<double>(count);
}

double median_deviation(const std::vector<double>& values) {
    const double middle = median(values);
    std::vector<double> deviations;
    deviations.reserve(values.size());
    for (const double v : values) deviations.push_back(std::abs(v - middle));
    return median(std::move(deviations));
}

}  // namespace gputomo::deduce
