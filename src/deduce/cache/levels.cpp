#include "deduce/cache/levels.hpp"

#include "units/statistics.hpp"

#include <algorithm>
#include <bit>
#include <iterator>
#include <numeric>

namespace gputomo::deduce {
namespace {

/// Of a normal distribution, this many median deviations hold all but a few readings.
constexpr double kSpread = 3;
/// What nine of ten loads stay below: where a line holds several loads of the walk, only the first of them can miss.
constexpr double kRepresentative = 0.9;
/// Readings wanted of an array; small ones are walked several times.
constexpr std::uint64_t kReadings = 256;

/// Doubled as often as it takes.
std::uint64_t stride_for(std::uint64_t bytes, std::uint64_t stride, std::uint64_t max_pass_loads) {
    while (bytes / stride > max_pass_loads) stride *= 2;
    return stride;
}

std::vector<double> readings_of(const Chase& chase, std::uint64_t bytes, std::uint64_t stride) {
    auto offsets = strided(bytes, stride);
    const auto passes = static_cast<std::uint32_t>((kReadings + offsets.size() - 1) / offsets.size());
    return chase({std::move(offsets), 2, passes}).latencies;
}

}  // namespace

std::vector<std::uint64_t> strided(std::uint64_t bytes, std::uint64_t stride) {
    std::vector<std::uint64_t> offsets;
    offsets.reserve(bytes / stride + 1);
    for (std::uint64_t at = 0; at < bytes; at += stride) offsets.push_back(at);
    return offsets;
}

std::vector<std::uint64_t> strided(std::uint64_t bytes, std::uint64_t stride, std::uint64_t most) {
    return strided(bytes, stride_for(bytes, stride, most));
}

LevelSweep deduce_levels(const Chase& chase, const LevelQuestion& question) {
    struct Newest {
        double representative = 0;
        double spread = 0;
        bool confirmed = true;  ///< by a second size
    };
    LevelSweep sweep;
    std::vector<Newest> about;  // one per level
    const auto next_size = [&](std::uint64_t bytes) {
        return !question.half_octaves ? 2 * bytes : std::has_single_bit(bytes) ? bytes / 2 * 3 : bytes / 3 * 4;
    };
    for (std::uint64_t bytes = question.smallest; bytes <= question.largest; bytes = next_size(bytes)) {
        const std::uint64_t stride = stride_for(bytes, question.stride, question.max_pass_loads);
        const auto readings = readings_of(chase, bytes, stride);
        const double representative = quantile(readings, kRepresentative);
        const double mean = std::accumulate(readings.begin(), readings.end(), 0.0) /
                            static_cast<double>(std::max<std::size_t>(1, readings.size()));
        sweep.points.push_back(
            {bytes, stride, median(readings), quantile(readings, 0.05), quantile(readings, 0.95), mean});
        if (!sweep.levels.empty()) {
            Level& level = sweep.levels.back();
            if (representative <= about.back().representative + about.back().spread) {
                level.fits = bytes;
                about.back().confirmed = true;
                continue;
            }
            level.overflows = bytes;
            if (!about.back().confirmed) {
                sweep.levels.pop_back();
                about.pop_back();
            }
        }
        // Loads that still hit the level before are not of this one.
        const double border = about.empty() ? 0 : (about.back().representative + representative) / 2;
        std::vector<double> own;
        std::copy_if(readings.begin(), readings.end(), std::back_inserter(own), [&](double r) { return r > border; });
        sweep.levels.push_back({median(own), quantile(own, 0.05), quantile(own, 0.95), bytes, 0});
        about.push_back(
            {representative, std::max(question.least_step, kSpread * median_deviation(own)), about.empty()});
    }
    return sweep;
}

}  // namespace gputomo::deduce
