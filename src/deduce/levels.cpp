#include "deduce/levels.hpp"

#include "deduce/statistics.hpp"

#include <algorithm>
#include <numeric>

namespace gputomo::deduce {
namespace {

/// Medians that differ by less are one level, however sharp their distributions: clocks read whole cycles, twice.
constexpr double kLeastStep = 3;
/// Of a normal distribution, this many median deviations hold all but a few readings.
constexpr double kSpread = 3;

LevelSweep::Point measure(const Chase& chase, std::uint64_t bytes, std::uint64_t stride) {
    const auto trace = chase({strided(bytes, stride), 1, 1}).latencies;
    LevelSweep::Point point{bytes, stride, median(trace), quantile(trace, 0.05), quantile(trace, 0.95), 0};
    point.mean = std::accumulate(trace.begin(), trace.end(), 0.0) / static_cast<double>(std::max<std::size_t>(1, trace.size()));
    return point;
}

}  // namespace

std::vector<std::uint64_t> strided(std::uint64_t bytes, std::uint64_t stride) {
    std::vector<std::uint64_t> offsets;
    offsets.reserve(bytes / stride + 1);
    for (std::uint64_t at = 0; at < bytes; at += stride) offsets.push_back(at);
    return offsets;
}

LevelSweep deduce_levels(const Chase& chase, const LevelQuestion& question) {
    LevelSweep sweep;
    for (std::uint64_t bytes = question.smallest; bytes <= question.largest; bytes *= 2) {
        std::uint64_t stride = question.stride;
        while (bytes / stride > question.most_loads) stride *= 2;
        const auto point = measure(chase, bytes, stride);
        sweep.points.push_back(point);
        const double spread = std::max(kLeastStep, kSpread * (point.high - point.low) / 3.3 / 2);
        const bool is_new = sweep.levels.empty() || point.median > sweep.levels.back().latency + std::max(spread, kLeastStep);
        if (is_new) {
            if (!sweep.levels.empty()) sweep.levels.back().overflows = bytes;
            sweep.levels.push_back({point.median, point.low, point.high, bytes, 0});
        } else {
            Level& level = sweep.levels.back();
            level.fits = bytes;
            level.low = std::min(level.low, point.low);
            level.high = std::max(level.high, point.high);
        }
    }
    return sweep;
}

}  // namespace gputomo::deduce
