#include "experiments/tlbs/translation_levels.hpp"

#include "deduce/cache/levels/levels.hpp"
#include "units/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <utility>

namespace gputomo::experiments {
namespace {

/// Elements of the smallest range.
constexpr std::uint64_t kFirstElements = 2;
/// Readings of a small range, in which a level has few elements, and the fewest passes. The number of passes is odd, so
/// that a median is a reading and not the mean of a reading and an outlier.
constexpr std::uint64_t kReadings = 1024, kFewestPasses = 3;
/// Uncertainty in cycles to which a level's latency is measured if jitter spreads readings over several steps of the
/// clock, and the most loads that this may take.
constexpr double kSure = 0.1;
constexpr std::uint64_t kMostSettlingLoads = 1 << 17;
/// A level is measured over a range up to this many times the first that showed it. The correction of each element has
/// an error of its own, which evens out over many elements but not over two.
constexpr std::uint64_t kSettlingRanges = 16;
/// A load missed a TLB if it takes this many cycles more than all loads of a smaller range. A larger margin misses
/// cheap TLBs; a smaller one takes differences between the slices of a cache for TLBs.
constexpr double kPlainMargin = 5, kAliasedMargin = 7;
/// The excess must also be larger than the jitter of a median of three passes by this factor. Jitter is measured over
/// this share of the readings; the rest may be outliers.
constexpr double kJitterMargin = 1.5, kNoOutliers = 0.9;
/// A level is there if this share of loads missed, because single loads are slow for other reasons. It still shows
/// entries that span 32 loads of the sweep over a plain array, or 16 pages of an aliased one.
constexpr double kPlainShare = 0.025, kAliasedShare = 0.05;
/// The fewest elements that missed: one element of a small range may have an outlier in half of its passes.
constexpr std::size_t kFewestSlow = 2;

/// The distance of nine of ten readings from their element's median, in cycles. A median of a few passes has less
/// jitter.
double jitter_of(const std::vector<double>& latencies, const std::vector<double>& medians) {
    std::vector<double> distances;
    for (std::size_t i = 0; i < latencies.size(); ++i)
        distances.push_back(std::abs(latencies[i] - medians[i % medians.size()]));
    return quantile(std::move(distances), kNoOutliers);
}

/// Readings of several passes over a range, and the median of each element.
struct Readings {
    std::vector<double> all, medians;
    [[nodiscard]] std::vector<double> medians_above(double limit) const {
        std::vector<double> slow;
        std::ranges::copy_if(medians, std::back_inserter(slow), [limit](double latency) { return latency > limit; });
        return slow;
    }
    /// All readings of the elements above the limit. Their medians would not do, because medians of few passes lie on
    /// the steps of the clock.
    [[nodiscard]] std::vector<double> of_elements_above(double limit) const {
        std::vector<double> slow;
        for (std::size_t i = 0; i < all.size(); ++i)
            if (medians[i % medians.size()] > limit) slow.push_back(all[i]);
        return slow;
    }
};

Readings readings_of(TranslationChase& chase, std::uint64_t bytes, std::uint64_t stride) {
    const auto passes =
        static_cast<std::uint32_t>(std::max<std::uint64_t>(kFewestPasses, kReadings * stride / bytes) | 1);
    Readings readings{chase({deduce::strided(bytes, stride), 2, passes}).latencies, {}};
    readings.medians = medians_of_elements(readings.all, passes);
    return readings;
}

/// Improves the latency of each level. If jitter exceeds a step of the clock, a range that shows the level is measured
/// until its latency is certain. If not, the steps of the clock shift all loads of a range alike, and ranges are
/// averaged.
void settle(TranslationChase& chase, std::uint64_t stride, double clock_step, bool jitter,
            std::vector<TranslationLevel>& levels) {
    for (auto& level : levels) {
        if (!jitter) {
            if (level.by_range.empty()) continue;
            const auto [low, high] = std::ranges::minmax(level.by_range);
            // The steps shift all loads of the small range that shows the first level alike. However, the jitter of the
            // few elements of that range does not even out, so the level keeps its first latency.
            if (clock_step <= 1)
                level.latency = median(level.by_range);
            else if (&level != &levels.front())
                level.latency = (low + high) / 2;
            continue;
        }
        std::vector<double> readings;
        std::uint64_t range = level.first;
        while (2 * range <= std::min(level.fits, kSettlingRanges * level.first)) range *= 2;
        for (std::uint64_t loads = 0; loads < kMostSettlingLoads;) {
            const auto measured = readings_of(chase, range, stride);
            const auto of_level = measured.of_elements_above(level.limit);
            readings.insert(readings.end(), of_level.begin(), of_level.end());
            loads += measured.all.size();
            const auto settled = location(readings, clock_step);
            if (!readings.empty()) level.latency = settled.median;
            if (!readings.empty() && settled.uncertainty < kSure) break;
        }
    }
}

}  // namespace

std::vector<TranslationLevel> find_translation_levels(TranslationChase& chase, std::uint64_t stride, double clock_step,
                                                      results::Trace& trace) {
    std::vector<TranslationLevel> levels;
    double most_jitter = 0;
    for (std::uint64_t bytes = kFirstElements * stride; bytes <= chase.window().bytes; bytes *= 2) {
        const auto readings = readings_of(chase, bytes, stride);
        const double jitter = kJitterMargin * jitter_of(readings.all, readings.medians);
        most_jitter = std::max(most_jitter, jitter);
        const double high = quantile(readings.medians, 0.99);
        trace.add_row(bytes, median(readings.medians), quantile(readings.medians, 0.05), high);
        const double uncertainty = jitter > 0 ? clock_step / 2 : 0;
        if (levels.empty()) {
            const double latency = mean_near_median(readings.all, clock_step);
            levels.push_back(
                {latency, high, bytes, 0, {latency}, std::numeric_limits<double>::lowest(), bytes, uncertainty});
            continue;
        }
        // Loads of one level differ, by the slices of a cache for example, and so do those of the next level.
        const double margin = std::max({chase.window().aliased ? kAliasedMargin : kPlainMargin, levels.front().spread(),
                                        levels.back().spread(), jitter});
        const double limit = levels.back().ceiling + margin;
        const auto slow = readings.medians_above(limit);
        const double share = chase.window().aliased ? kAliasedShare : kPlainShare;
        if (slow.size() >= kFewestSlow &&
            static_cast<double>(slow.size()) > share * static_cast<double>(readings.medians.size())) {
            levels.back().overflows = bytes;
            const double latency = mean_near_median(readings.of_elements_above(limit), clock_step);
            levels.push_back({latency, quantile(slow, 0.98), bytes, 0, {latency}, limit, bytes, uncertainty});
        } else {
            levels.back().fits = bytes;
            const double of_level =
                levels.size() > 1 ? levels[levels.size() - 2].ceiling + margin : std::numeric_limits<double>::lowest();
            if (const auto of_range = readings.of_elements_above(of_level); !of_range.empty())
                levels.back().by_range.push_back(mean_near_median(of_range, clock_step));
        }
    }
    settle(chase, stride, clock_step, most_jitter > kJitterMargin * clock_step, levels);
    return levels;
}

}  // namespace gputomo::experiments
