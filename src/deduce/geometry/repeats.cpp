#include "deduce/geometry/repeats.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace gputomo::deduce::geometry {
namespace {

/// Laps after which a set may repeat itself.
constexpr std::size_t kMostPeriod = 12;
/// Standard deviations beyond which a count is no accident; and times as many misses as differ that have to be the same.
constexpr double kSigmas = 3, kTimesTheSame = 2;

/// Whether so many loads from `one` and from `other` on are slow in the same places, but for accidents.
bool alike(const std::vector<bool>& slow, std::size_t one, std::size_t other, std::size_t loads, double accidents) {
    std::size_t both = 0, either = 0;
    for (std::size_t i = 0; i < loads; ++i) {
        both += slow[one + i] && slow[other + i] ? 1 : 0;
        either += slow[one + i] || slow[other + i] ? 1 : 0;
    }
    const double expected = 2 * accidents * static_cast<double>(loads), differ = static_cast<double>(either - both);
    return differ <= expected + kSigmas * std::sqrt(expected) && static_cast<double>(both) > kTimesTheSame * std::max(0.0, differ - expected);
}

/// Loads that are compared at once: of short tours several laps, since accidents may outnumber the misses of one.
constexpr std::size_t kCompared = 256;

/// First load from which on the episode repeats itself after `period` loads; its end if it does not.
std::size_t repeats_from(const Episode& episode, std::size_t tour, std::size_t period, double accidents) {
    const std::size_t all = episode.missed.size(), piece = std::min(all - period, (kCompared + tour - 1) / tour * tour);
    std::size_t from = all;
    while (from >= period + piece && alike(episode.missed, from - period - piece, from - piece, piece, accidents)) from -= piece;
    return from == all ? all : from - period;
}

}  // namespace

void leave_out_accidents(Episode& episode, std::size_t tour, double accidents) {
    const std::size_t loads = episode.missed.size();
    for (std::size_t period = tour; period <= kMostPeriod * tour && 2 * period <= loads; period += tour) {
        const std::size_t from = repeats_from(episode, tour, period, accidents);
        if (from > loads / 2 || loads - from < 2 * period) continue;
        std::vector<bool> slow(period, true), odd(period, true);
        for (std::size_t i = from; i < loads; ++i) {
            slow[(i - from) % period] = slow[(i - from) % period] && episode.missed[i];
            odd[(i - from) % period] = odd[(i - from) % period] && episode.odd[i];
        }
        for (std::size_t i = from; i < loads; ++i) {
            episode.missed[i] = slow[(i - from) % period];
            episode.odd[i] = odd[(i - from) % period];
        }
        episode.repeats = true;
        return;
    }
}

}  // namespace gputomo::deduce::geometry
