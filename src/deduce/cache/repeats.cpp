#include "deduce/cache/repeats.hpp"

#include "deduce/cache/probe.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace gputomo::deduce::cache {
namespace {

/// Standard deviations beyond which a count is no accident; and times as many misses as differ that have to be the
/// same.
constexpr double kSigmas = 3, kTimesTheSame = 2;

/// Whether so many loads from `one` and from `other` on are slow in the same places, but for accidents.
bool alike(const std::vector<bool>& slow, std::size_t one, std::size_t other, std::size_t loads, double accidents) {
    Repeated repeated;
    for (std::size_t i = 0; i < loads; ++i) repeated.count(slow[one + i], slow[other + i]);
    const double expected = 2 * accidents * static_cast<double>(loads),
                 differ = static_cast<double>(repeated.either - repeated.both);
    return differ <= expected + kSigmas * std::sqrt(expected) &&
           static_cast<double>(repeated.both) > kTimesTheSame * std::max(0.0, differ - expected);
}

/// Loads that are compared at once: of short tours several laps, since accidents may outnumber the misses of one.
constexpr std::size_t kCompared = 256;

/// First load from which on the episode repeats itself after `period` loads; its end if it does not.
std::size_t repeats_from(const Episode& episode, std::size_t tour, std::size_t period, double accidents) {
    const std::size_t all = episode.missed.size(), piece = std::min(all - period, (kCompared + tour - 1) / tour * tour);
    std::size_t from = all;
    while (from >= period + piece && alike(episode.missed, from - period - piece, from - piece, piece, accidents))
        from -= piece;
    return from == all ? all : from - period;
}

/// Whether more readings than accidents explain were as slow as misses where others were fast: a few misses among many
/// that stay do not make the laps unlike each other. By place in the period: slow readings, those that are not as slow
/// as misses, and all. Where none is known to be, it is not known how slow misses are.
bool misses_come_and_go(const std::vector<std::uint32_t>& slow, const std::vector<std::uint32_t>& odd,
                        const std::vector<std::uint32_t>& laps, double accidents) {
    constexpr double kLikeMisses = 0.25;
    double now_and_then = 0, odd_ones = 0, readings = 0;
    for (std::size_t i = 0; i < slow.size(); ++i) {
        if (slow[i] == laps[i]) continue;
        now_and_then += slow[i];
        odd_ones += odd[i];
        readings += laps[i];
    }
    const double expected = kLikeMisses * accidents * readings;
    return odd_ones > 0 && now_and_then - odd_ones > expected + kSigmas * std::sqrt(expected) + 1;
}

}  // namespace

void leave_out_accidents(Episode& episode, std::size_t tour, double accidents) {
    const std::size_t loads = episode.missed.size();
    for (std::size_t period = tour; period <= kMostPeriod * tour && 2 * period <= loads; period += tour) {
        const std::size_t from = repeats_from(episode, tour, period, accidents);
        if (from > loads / 2 || loads - from < 2 * period) continue;
        std::vector<std::uint32_t> slow(period, 0), odd(period, 0), laps(period, 0);
        for (std::size_t i = from; i < loads; ++i) {
            ++laps[(i - from) % period];
            slow[(i - from) % period] += episode.missed[i] ? 1 : 0;
            odd[(i - from) % period] += episode.odd[i] ? 1 : 0;
        }
        // What is slow again and again, but not always, takes turns: the set repeats itself later.
        bool takes_turns = false;
        for (std::size_t i = 0; i < period; ++i)
            takes_turns = takes_turns ||
                          (slow[i] < laps[i] && static_cast<int>(slow[i]) >= least_count(accidents, laps[i], period));
        if (takes_turns || misses_come_and_go(slow, odd, laps, accidents)) continue;
        for (std::size_t i = from; i < loads; ++i) {
            const std::size_t place = (i - from) % period;
            episode.missed[i] = slow[place] == laps[place];
            episode.odd[i] = odd[place] == laps[place];
        }
        episode.repeats = true;
        episode.clean = from;
        return;
    }
}

}  // namespace gputomo::deduce::cache
