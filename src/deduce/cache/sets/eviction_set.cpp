#include "deduce/cache/sets/eviction_set.hpp"

#include "deduce/cache/sets/minimal_subset.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <numeric>
#include <set>

namespace gputomo::deduce::cache {
namespace {

/// A guess about a whole set is tested with this many random draws of its lines. More draws find more exceptions and
/// cost as many loads.
constexpr int kDraws = 3;
/// A sequence of more than 3000 lines is not reduced to a minimal eviction set: it would take too many loads. Up to
/// 256 lines that overflow are reduced at once.
constexpr std::size_t kMaxSearched = 3000, kFewSearched = 256;

Offsets joined(Offsets a, const Offsets& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
}

/// 0, distance, 2 distance, ...
Offsets multiples(std::uint64_t distance, std::uint64_t count) {
    Offsets offsets(count);
    for (std::uint64_t i = 0; i < count; ++i) offsets[i] = i * distance;
    return offsets;
}

/// Number of lines, counted from the first, that are resident together. The first `low` lines are, the first `high`
/// are not.
std::uint64_t longest_that_fits(const Probe& probe, std::uint64_t distance, std::uint64_t low, std::uint64_t high) {
    while (high - low > 1) {
        const std::uint64_t middle = low + (high - low) / 2;
        (probe.fits(multiples(distance, middle)) ? low : high) = middle;
    }
    return low;
}

/// Whether all lines `distance` apart are in one set of `ways` ways. Then any of them overflow it, not only the first
/// ones.
bool all_collide(const Probe& probe, std::uint64_t distance, std::uint64_t ways) {
    const std::uint64_t lines_in_span = probe.search_span() / distance;
    if (lines_in_span < ways + ways / 2 + 2) return false;
    for (int i = 0; i < kDraws; ++i) {
        Offsets some = multiples(distance, std::min(lines_in_span, 4 * ways + 4));
        std::shuffle(some.begin(), some.end(), probe.random());
        some.resize(ways + 1);
        if (probe.fits(some)) return false;
        some.pop_back();
        if (!probe.fits(some)) return false;
    }
    return true;
}

/// If lines are dealt to sets one after the other, as many are resident as sets times ways. Among the ways that divide
/// this number, those are chosen that behave like one set. Empty where no number does.
Offsets dealt_lines(const Probe& probe, std::uint64_t distance, std::uint64_t fitting) {
    // No cache of several sets so far has more ways. Fewer than three sets are a power of two, whose lines collide at
    // some distance that is one, so that all_collide() finds them.
    constexpr std::uint64_t kMaxWays = 256, kMinSets = 3;
    for (std::uint64_t ways = 1; ways <= kMaxWays && ways * kMinSets <= fitting; ++ways) {
        if (fitting % ways != 0 || (ways + 1) * (fitting / ways) * distance > probe.span()) continue;
        Offsets lines = multiples(fitting / ways * distance, ways + 1);
        if (probe.fits(Offsets(lines.begin(), lines.end() - 1)) && !probe.fits(lines)) return lines;
    }
    return {};
}

/// Lines of an overflowing sequence that miss in more than half of the passes.
Offsets suspects(const Probe& probe, const Offsets& sequence) {
    // A share around one half is known to 10% from 24 passes. More passes cost as many loads; with six, a blind test on
    // irregular caches finds the same sets.
    constexpr std::uint32_t kPasses = 24;
    const auto rates = probe.miss_rates(sequence, probe.settling_passes(), kPasses);
    Offsets missing;
    for (std::size_t i = 0; i < sequence.size(); ++i)
        if (rates[i] > 0.5) missing.push_back(sequence[i]);
    return missing;
}

/// A sequence that is observed repeatedly, with the misses of each of its lines.
class Observation {
public:
    Observation(const Probe& probe, const Offsets& sequence)
        : probe_(probe), sequence_(sequence), misses_(sequence.size(), 0) {}
    void observe(std::uint32_t warm, std::uint32_t passes) {
        const auto rates = probe_.miss_rates_in_random_orders(sequence_, warm, passes);
        for (std::size_t i = 0; i < rates.size(); ++i) misses_[i] += rates[i] * passes;
        passes_ += passes;
    }
    /// Whether there are more misses in total than outliers explain.
    [[nodiscard]] bool misses() const {
        // Outliers exceed four standard deviations in one of 30,000 sequences; a search tries hundreds. A smaller
        // number lets outliers pass for misses, a larger one overlooks sets whose lines miss rarely.
        constexpr double kSigmas = 4;
        const double all = expected_outliers() * static_cast<double>(sequence_.size());
        return std::accumulate(misses_.begin(), misses_.end(), 0.0) >= all + kSigmas * std::sqrt(all) + 1;
    }
    /// Whether a line misses more often than outliers slow any line. The rate is doubled, since it is known from few
    /// outliers.
    [[nodiscard]] bool one_line_misses() const {
        return *std::ranges::max_element(misses_) >=
               significant_count(2 * probe_.miss_like_outlier_rate(), passes_, sequence_.size());
    }
    /// Lines whose misses may not be outliers, the most frequent first. One line too many costs little, since the
    /// reduction drops it; one too few hides the set.
    [[nodiscard]] Offsets missing() const {
        std::vector<std::size_t> those;
        for (std::size_t i = 0; i < sequence_.size(); ++i)
            if (misses_[i] > expected_outliers() + 2 * std::sqrt(expected_outliers()) + 1) those.push_back(i);
        std::ranges::stable_sort(those, std::greater<>(), [&](std::size_t i) { return misses_[i]; });
        Offsets lines;
        for (const auto i : those) lines.push_back(sequence_[i]);
        return lines;
    }

private:
    /// Expected outliers of one line.
    [[nodiscard]] double expected_outliers() const { return probe_.miss_like_outlier_rate() * passes_; }
    const Probe& probe_;
    const Offsets& sequence_;
    std::vector<double> misses_;
    std::uint32_t passes_ = 0;
};

/// Passes of the first observation, and of the only one that a long sequence gets.
constexpr std::uint32_t kMinPasses = 16;

/// Lines of a sequence that miss more often than outliers explain. Under a random policy they still miss rarely. Empty
/// if the sequence fits. Proving that a long sequence overflows takes far longer than proving it for the few lines that
/// miss, so the caller does that.
Offsets missing_lines(const Probe& probe, const Offsets& sequence) {
    // The search for lines that miss rarely ends after `kMaxPasses` passes or `kMaxLoads` loads of one observation.
    // With 16 passes at most, a blind test on irregular caches still finds all sets, by later searches with 1.5 times
    // the loads. More passes only cost loads where a sequence fits.
    constexpr std::uint32_t kMaxPasses = 256;
    constexpr std::uint64_t kMaxLoads = std::uint64_t{1} << 21;
    // Untimed passes, at most. In the same blind test four passes and 64 cost and find the same: lines that are still
    // becoming resident are many, and the next observation sees fewer.
    constexpr std::uint32_t kMaxWarm = 64;
    // Missing lines are few if they are at most one in 16. One in 2 and one in 128 change the loads of that test by 1%.
    constexpr std::size_t kFewOf = 16;
    Offsets missing;
    for (std::uint32_t passes = kMinPasses;
         passes <= kMaxPasses && (passes == kMinPasses || passes * sequence.size() <= kMaxLoads); passes *= 4) {
        Observation observation(probe, sequence);
        observation.observe(std::min(kMaxWarm, probe.settling_passes()), passes);
        if (!observation.one_line_misses()) {
            if (!observation.misses()) return {};
            continue;
        }
        missing = observation.missing();
        // If many lines miss, they are still becoming resident.
        if (missing.size() > 1 && missing.size() <= sequence.size() / kFewOf && !probe.fits(missing)) break;
    }
    return missing;
}

/// A sequence of lines that overflows, and those of its lines that miss.
struct Overflowing {
    Offsets sequence, missing;
};

/// The shortest prefix of a list that overflows. The first `low` lines fit, the first `most` overflow.
Overflowing first_to_overflow(const Probe& probe, const Offsets& lines, std::uint64_t low, Overflowing most) {
    // If the sequence exceeds the resident lines by a larger share than one in 32, too many sets overflow together.
    constexpr std::uint64_t kShareBeyond = 32;
    while (most.sequence.size() - low > 1 + low / kShareBeyond) {
        const std::uint64_t middle = low + (most.sequence.size() - low) / 2;
        Overflowing now{Offsets(lines.begin(), lines.begin() + static_cast<std::ptrdiff_t>(middle)), {}};
        now.missing = missing_lines(probe, now.sequence);
        if (now.missing.empty())
            low = middle;
        else
            most = std::move(now);
    }
    return most;
}

/// Policies that expect no reuse evict the same few lines of a set again and again, while its other lines stay
/// resident. Returns the missing lines and the fewest resident ones that still evict them. Empty if all resident ones
/// together do not evict them.
Offsets with_resident_lines(const Probe& probe, const Overflowing& found) {
    Offsets others;
    for (const auto line : found.sequence)
        if (std::ranges::find(found.missing, line) == found.missing.end()) others.push_back(line);
    const auto evict = [&](const Offsets& lines) {
        return !probe.first_lines_stay_resident_for_long(joined(found.missing, lines), found.missing.size());
    };
    if (others.empty() || !evict(others)) return {};
    return joined(found.missing, minimal_subset(others, evict));
}

/// If XORs of address bits choose the set, the XOR of two of its lines turns any line of the set into another one. A
/// few missing lines thus generate the whole set. Empty if the lines generated from the first missing one fit.
Offsets with_generated_lines(const Probe& probe, const Offsets& missing) {
    // Ten differences generate 1024 lines, more than any set so far has ways. With 16 lines, large sets are found by
    // other searches, with 7% more loads in a blind test on irregular caches.
    constexpr std::size_t kMaxGenerated = 1 << 10;
    if (missing.empty()) return {};
    Offsets generated{missing.front()};
    for (const auto line : missing) {
        if (std::ranges::find(generated, line) != generated.end()) continue;
        const std::size_t known = generated.size();
        if (2 * known > kMaxGenerated) break;
        for (std::size_t i = 0; i < known; ++i) generated.push_back(generated[i] ^ missing.front() ^ line);
        if (!probe.fits(generated)) return generated;
    }
    return {};
}

/// As with_generated_lines(), but observes the sequence for further passes until the lines that missed so far generate
/// a set.
Offsets with_generated_lines_in_time(const Probe& probe, const Overflowing& found) {
    // A random policy evicts each line of a full set in one of `ways` passes. Therefore 12 observations of 16 passes
    // show most lines of sets of up to 128 ways. More take loads that the next search can use better.
    constexpr int kObservations = 12;
    auto generated = with_generated_lines(probe, found.missing);
    Observation observation(probe, found.sequence);
    for (int i = 0; i < kObservations && generated.empty(); ++i) {
        observation.observe(0, kMinPasses);
        generated = with_generated_lines(probe, observation.missing());
    }
    return generated;
}

/// `count` different multiples of `alignment` in the search span.
Offsets random_places(const Probe& probe, std::uint64_t alignment, std::size_t count) {
    std::set<std::uint64_t> places;
    while (places.size() < count) places.insert(probe.draw(probe.search_span() / alignment) * alignment);
    Offsets lines(places.begin(), places.end());
    std::shuffle(lines.begin(), lines.end(), probe.random());
    return lines;
}

/// The set with its most aligned line first; nullopt if the lines fit after all.
std::optional<EvictionSet> checked(const Probe& probe, Offsets lines) {
    std::stable_sort(lines.begin(), lines.end(),
                     [](std::uint64_t a, std::uint64_t b) { return std::countr_zero(a) > std::countr_zero(b); });
    if (lines.size() < 2 || probe.fits(lines)) return std::nullopt;
    return EvictionSet{lines};
}

/// The first eviction set among lines that overflow one after the other. The list grows by a quarter each time or,
/// where its first length is known to be about what fits, by steps that double.
std::optional<EvictionSet> first_eviction_set(const Probe& probe, const Offsets& lines, std::uint64_t fewest,
                                              bool about_fewest) {
    const auto grown = [&](std::uint64_t count) {
        return std::min<std::uint64_t>(
            count + std::max<std::uint64_t>(2, about_fewest ? 2 * (count - fewest) : count / 4), lines.size());
    };
    std::uint64_t low = 0;
    for (std::uint64_t count = std::min<std::uint64_t>(fewest, lines.size()); low < lines.size();
         low = count, count = grown(count)) {
        Overflowing found{Offsets(lines.begin(), lines.begin() + static_cast<std::ptrdiff_t>(count)), {}};
        found.missing = missing_lines(probe, found.sequence);
        if (found.missing.empty()) continue;
        // A few lines that overflow by themselves are reduced at once: to shorten the list would take more loads.
        const bool few = found.missing.size() <= kFewSearched && !probe.fits(found.missing);
        if (!few) found = first_to_overflow(probe, lines, low, std::move(found));
        if (found.missing.size() > kMaxSearched) return std::nullopt;
        if (!few && probe.fits(found.missing)) {
            const auto generated = with_generated_lines_in_time(probe, found);
            found.missing = generated.empty() ? with_resident_lines(probe, found) : generated;
        }
        return found.missing.empty() ? std::nullopt : checked(probe, minimal_eviction_set(probe, found.missing));
    }
    return std::nullopt;
}

}  // namespace

Offsets minimal_eviction_set(const Probe& probe, const Offsets& lines) {
    return minimal_subset(lines, [&](const Offsets& some) { return !probe.fits(some); });
}

std::optional<EvictionSet> find_eviction_set(const Probe& probe, std::uint64_t step) {
    std::uint64_t count = 2;
    while (count < probe.search_span() / step && probe.fits(multiples(probe.search_span() / count, count))) count *= 2;
    const std::uint64_t distance = probe.search_span() / count;
    // At twice the distance, half as many lines fitted; they need not be the first half of these.
    const std::uint64_t ways = longest_that_fits(probe, distance, 1, count);
    if (ways + 1 == count && probe.fits(multiples(distance, count))) return std::nullopt;
    Offsets lines = multiples(distance, ways + 1);
    if (!all_collide(probe, distance, ways)) {
        if (const Offsets dealt = dealt_lines(probe, distance, ways); !dealt.empty()) return EvictionSet{dealt};
        const Offsets missing = suspects(probe, lines);
        if (missing.size() > 1 && missing.size() < lines.size() && !probe.fits(missing)) lines = missing;
        if (lines.size() > kMaxSearched) return std::nullopt;
        lines = minimal_eviction_set(probe, lines);
    }
    return checked(probe, std::move(lines));
}

std::optional<EvictionSet> find_eviction_set_in_array(const Probe& probe, std::uint64_t step, std::uint64_t fitting) {
    const std::uint64_t most = probe.search_span() / step;
    return first_eviction_set(probe, multiples(step, most), std::clamp<std::uint64_t>(fitting / step, 1, most), true);
}

std::optional<EvictionSet> find_eviction_set_at_random(const Probe& probe, std::uint64_t step, std::uint64_t most) {
    // Neighbours of these lines are later tested for being in the same line, so that each place must be where a line
    // begins. Lines of up to four pieces are allowed for; the first list has four lines.
    constexpr std::uint64_t kLongestLine = 4, kFewest = 4;
    const std::uint64_t alignment = kLongestLine * step;
    return first_eviction_set(
        probe, random_places(probe, alignment, std::min(most, probe.search_span() / alignment / 4)), kFewest, false);
}

}  // namespace gputomo::deduce::cache
