#include "deduce/cache/levels/levels.hpp"

#include "units/statistics.hpp"

#include <algorithm>
#include <bit>
#include <iterator>
#include <numeric>

namespace gputomo::deduce {
namespace {

/// Three median deviations contain all but a few readings of a normal distribution. More would merge close
/// levels.
constexpr double kSpread = 3;
/// The 90% quantile represents an array: where a line holds several loads of the sequence, only the first of them can
/// miss. It also ignores up to a tenth of outliers.
constexpr double kRepresentative = 0.9;
/// Readings wanted for one array; small arrays are read in several passes. Fewer make the quantiles of short arrays
/// noisy.
constexpr std::uint64_t kReadings = 256;

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
    struct Spread {
        double representative = 0;
        double spread = 0;
        bool confirmed = true;  ///< by a second size
    };
    LevelSweep sweep;
    std::vector<Spread> spreads;  // one for each level
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
            if (representative <= spreads.back().representative + spreads.back().spread) {
                level.fits = bytes;
                spreads.back().confirmed = true;
                continue;
            }
            level.overflows = bytes;
            if (!spreads.back().confirmed) {
                sweep.levels.pop_back();
                spreads.pop_back();
            }
        }
        // Loads that still hit the level before do not belong to this one.
        const double border = spreads.empty() ? 0 : (spreads.back().representative + representative) / 2;
        std::vector<double> own;
        std::copy_if(readings.begin(), readings.end(), std::back_inserter(own), [&](double r) { return r > border; });
        sweep.levels.push_back({median(own), quantile(own, 0.05), quantile(own, 0.95), bytes, 0});
        spreads.push_back(
            {representative, std::max(question.least_step, kSpread * median_deviation(own)), spreads.empty()});
    }
    return sweep;
}

}  // namespace gputomo::deduce
