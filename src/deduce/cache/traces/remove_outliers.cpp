#include "deduce/cache/traces/remove_outliers.hpp"

#include "deduce/cache/chase/probe.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace gputomo::deduce::cache {
namespace {

/// Beyond three standard deviations a count is not due to outliers. The misses that recur must be at least twice those
/// that differ without explanation.
constexpr double kSigmas = 3, kMinSameToDifferent = 2;

/// Whether the `loads` loads from `one` and from `other` on are slow at the same places, but for outliers.
bool similar(const std::vector<bool>& slow, std::size_t one, std::size_t other, std::size_t loads, double outliers) {
    RepeatCount repeats;
    for (std::size_t i = 0; i < loads; ++i) repeats.count(slow[one + i], slow[other + i]);
    const double expected = 2 * outliers * static_cast<double>(loads),
                 differ = static_cast<double>(repeats.either - repeats.both);
    return differ <= expected + kSigmas * std::sqrt(expected) &&
           static_cast<double>(repeats.both) > kMinSameToDifferent * std::max(0.0, differ - expected);
}

/// Loads compared at once, in several passes where sequences are short: outliers may outnumber the misses of one pass.
constexpr std::size_t kCompared = 256;

/// First load from which on the segment repeats itself after `period` loads; its end if it does not.
std::size_t repeats_from(const TraceSegment& segment, std::size_t sequence, std::size_t period, double outliers) {
    const std::size_t all = segment.missed.size(),
                      piece = std::min(all - period, (kCompared + sequence - 1) / sequence * sequence);
    std::size_t from = all;
    while (from >= period + piece && similar(segment.missed, from - period - piece, from - piece, piece, outliers))
        from -= piece;
    return from == all ? all : from - period;
}

/// Whether more loads than outliers explain were as slow as misses at places where others were fast: a few misses
/// among many hits do not make passes dissimilar. `slow`, `outlier` and `passes` count by place in the period. If no
/// outlier is known, misses cannot be distinguished from them.
bool misses_come_and_go(const std::vector<std::uint32_t>& slow, const std::vector<std::uint32_t>& outlier,
                        const std::vector<std::uint32_t>& passes, double outliers) {
    // Share of the outliers that may be as slow as misses without being known as outliers. A chosen value: a larger one
    // overlooks misses that come and go, a smaller one takes outliers for them.
    constexpr double kLikeMisses = 0.25;
    double now_and_then = 0, known_outliers = 0, readings = 0;
    for (std::size_t i = 0; i < slow.size(); ++i) {
        if (slow[i] == passes[i]) continue;
        now_and_then += slow[i];
        known_outliers += outlier[i];
        readings += passes[i];
    }
    const double expected = kLikeMisses * outliers * readings;
    return known_outliers > 0 && now_and_then - known_outliers > expected + kSigmas * std::sqrt(expected) + 1;
}

}  // namespace

void remove_outliers(TraceSegment& segment, std::size_t sequence, double outliers) {
    const std::size_t loads = segment.missed.size();
    for (std::size_t period = sequence; period <= kMaxPeriod * sequence && 2 * period <= loads; period += sequence) {
        const std::size_t from = repeats_from(segment, sequence, period, outliers);
        if (from > loads / 2 || loads - from < 2 * period) continue;
        std::vector<std::uint32_t> slow(period, 0), outlier(period, 0), passes(period, 0);
        for (std::size_t i = from; i < loads; ++i) {
            ++passes[(i - from) % period];
            slow[(i - from) % period] += segment.missed[i] ? 1 : 0;
            outlier[(i - from) % period] += segment.outlier[i] ? 1 : 0;
        }
        // A place that is slow again and again, but not always, belongs to a longer period.
        bool slow_at_times = false;
        for (std::size_t i = 0; i < period; ++i)
            slow_at_times =
                slow_at_times ||
                (slow[i] < passes[i] && static_cast<int>(slow[i]) >= significant_count(outliers, passes[i], period));
        if (slow_at_times || misses_come_and_go(slow, outlier, passes, outliers)) continue;
        for (std::size_t i = from; i < loads; ++i) {
            const std::size_t place = (i - from) % period;
            segment.missed[i] = slow[place] == passes[place];
            segment.outlier[i] = outlier[place] == passes[place];
        }
        segment.periodic = true;
        segment.periodic_from = from;
        return;
    }
}

}  // namespace gputomo::deduce::cache
