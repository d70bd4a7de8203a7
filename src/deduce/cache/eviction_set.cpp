#include "deduce/cache/eviction_set.hpp"

#include "deduce/cache/minimal_subset.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <numeric>
#include <set>

namespace gputomo::deduce::cache {
namespace {

/// Times that a guess about a whole set is tried with other lines.
constexpr int kDraws = 3;
/// A tour of more lines than this is searched only for those that miss in it.
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

/// The most of these lines, from the first on, that stay. The first `low` do, the first `high` don't.
std::uint64_t longest_that_fits(const Probe& probe, std::uint64_t distance, std::uint64_t low, std::uint64_t high) {
    while (high - low > 1) {
        const std::uint64_t middle = low + (high - low) / 2;
        (probe.fits(multiples(distance, middle)) ? low : high) = middle;
    }
    return low;
}

/// Whether all lines so far apart are of one set with so many ways: then any lines will do, not only the first ones.
bool all_collide(const Probe& probe, std::uint64_t distance, std::uint64_t ways) {
    const std::uint64_t room = probe.search_span() / distance;
    if (room < ways + ways / 2 + 2) return false;
    for (int i = 0; i < kDraws; ++i) {
        Offsets some = multiples(distance, std::min(room, 4 * ways + 4));
        std::shuffle(some.begin(), some.end(), probe.random());
        some.resize(ways + 1);
        if (probe.fits(some)) return false;
        some.pop_back();
        if (!probe.fits(some)) return false;
    }
    return true;
}

/// Where lines are dealt to sets one after the other, as many stay as there are sets times ways: of the ways that
/// divide that number, those that behave like one set's. Empty where none does.
Offsets dealt_lines(const Probe& probe, std::uint64_t distance, std::uint64_t fitting) {
    constexpr std::uint64_t kMaxWays = 256, kMinSets = 3;
    for (std::uint64_t ways = 1; ways <= kMaxWays && ways * kMinSets <= fitting; ++ways) {
        if (fitting % ways != 0 || (ways + 1) * (fitting / ways) * distance > probe.span()) continue;
        Offsets lines = multiples(fitting / ways * distance, ways + 1);
        if (probe.fits(Offsets(lines.begin(), lines.end() - 1)) && !probe.fits(lines)) return lines;
    }
    return {};
}

/// Lines of a tour that does not fit which miss more often than the others.
Offsets suspects(const Probe& probe, const Offsets& sequence) {
    constexpr std::uint32_t kPasses = 24;
    const auto rates = probe.miss_rates(sequence, probe.settling_passes(), kPasses);
    Offsets missing;
    for (std::size_t i = 0; i < sequence.size(); ++i)
        if (rates[i] > 0.5) missing.push_back(sequence[i]);
    return missing;
}

/// A tour that is looked at again and again, and how often each of its lines missed.
class Watched {
public:
    Watched(const Probe& probe, const Offsets& sequence)
        : probe_(probe), sequence_(sequence), misses_(sequence.size(), 0) {}
    void look(std::uint32_t warm, std::uint32_t passes) {
        const auto rates = probe_.miss_rates_in_random_orders(sequence_, warm, passes);
        for (std::size_t i = 0; i < rates.size(); ++i) misses_[i] += rates[i] * passes;
        passes_ += passes;
    }
    /// More misses in all than accidents explain.
    [[nodiscard]] bool misses() const {
        constexpr double kSigmas = 4;
        const double all = outlier_rate() * static_cast<double>(sequence_.size());
        return std::accumulate(misses_.begin(), misses_.end(), 0.0) >= all + kSigmas * std::sqrt(all) + 1;
    }
    /// A line that misses more often than accidents do to any; how often they look like misses is known from a few of
    /// them only.
    [[nodiscard]] bool a_line_misses() const {
        return *std::ranges::max_element(misses_) >=
               significant_count(2 * probe_.miss_like_outlier_rate(), passes_, sequence_.size());
    }
    /// Those that may not be accidents, the most frequent first. One line too many costs little, since what doesn't
    /// matter is left out later; one too few hides the set.
    [[nodiscard]] Offsets missing() const {
        std::vector<std::size_t> those;
        for (std::size_t i = 0; i < sequence_.size(); ++i)
            if (misses_[i] > outlier_rate() + 2 * std::sqrt(outlier_rate()) + 1) those.push_back(i);
        std::ranges::stable_sort(those, std::greater<>(), [&](std::size_t i) { return misses_[i]; });
        Offsets lines;
        for (const auto i : those) lines.push_back(sequence_[i]);
        return lines;
    }

private:
    /// Of one line.
    [[nodiscard]] double outlier_rate() const { return probe_.miss_like_outlier_rate() * passes_; }
    const Probe& probe_;
    const Offsets& sequence_;
    std::vector<double> misses_;
    std::uint32_t passes_ = 0;
};

/// Laps of a look, the first one or the only one that a long tour gets.
constexpr std::uint32_t kMinPasses = 16;

/// Lines of a tour that miss more often than accidents explain, also those of sets whose lines miss only now and then:
/// nothing where the tour stays. To prove that it does not takes far longer for a long tour than for the few lines that
/// miss, so it is not waited for.
Offsets missing_lines(const Probe& probe, const Offsets& sequence) {
    constexpr std::uint32_t kMaxPasses = 256, kMaxWarm = 64;
    constexpr std::uint64_t kMaxLoads = std::uint64_t{1} << 21;
    constexpr std::size_t kFewOf = 16;
    Offsets missing;
    for (std::uint32_t passes = kMinPasses;
         passes <= kMaxPasses && (passes == kMinPasses || passes * sequence.size() <= kMaxLoads); passes *= 4) {
        Watched watched(probe, sequence);
        watched.look(std::min(kMaxWarm, probe.settling_passes()), passes);
        if (!watched.a_line_misses()) {
            if (!watched.misses()) return {};
            continue;
        }
        missing = watched.missing();
        // Where many miss, lines are still coming to stay.
        if (missing.size() > 1 && missing.size() <= sequence.size() / kFewOf && !probe.fits(missing)) break;
    }
    return missing;
}

/// A list of lines that overflows, and those of them that miss.
struct Overflowing {
    Offsets sequence, missing;
};

/// The first lines of a list that overflow, as few as that takes. The first `low` stay, those of `most` don't.
Overflowing first_to_overflow(const Probe& probe, const Offsets& lines, std::uint64_t low, Overflowing most) {
    // With more lines beyond what stays than this share, too many sets overflow together.
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

/// Policies that expect no reuse let the same few lines of a set go again and again. The other lines of the set are
/// then among those that are resident: the fewest of them that evict the missing ones. Empty where all of them together
/// don't.
Offsets with_resident_lines(const Probe& probe, const Overflowing& found) {
    Offsets others;
    for (const auto line : found.sequence)
        if (std::ranges::find(found.missing, line) == found.missing.end()) others.push_back(line);
    const auto evict = [&](const Offsets& lines) {
        return !probe.first_lines_stay_for_long(joined(found.missing, lines), found.missing.size());
    };
    if (others.empty() || !evict(others)) return {};
    return joined(found.missing, minimal_subset(others, evict));
}

/// Where sets are chosen by XORs of address bits, what leads from one of a set's lines to another leads from any of
/// them to one: as few as its lines have such differences show all. Nothing where those that go with the first of these
/// lines stay.
Offsets with_lines_alike(const Probe& probe, const Offsets& missing) {
    constexpr std::size_t kMaxAlike = 1 << 10;
    if (missing.empty()) return {};
    Offsets alike{missing.front()};
    for (const auto line : missing) {
        if (std::ranges::find(alike, line) != alike.end()) continue;
        const std::size_t known = alike.size();
        if (2 * known > kMaxAlike) break;
        for (std::size_t i = 0; i < known; ++i) alike.push_back(alike[i] ^ missing.front() ^ line);
        if (!probe.fits(alike)) return alike;
    }
    return {};
}

/// The same of a tour that is looked at longer and longer, until enough of the lines of an overfull set were seen to
/// miss.
Offsets with_lines_alike_in_time(const Probe& probe, const Overflowing& found) {
    constexpr int kLooks = 12;
    auto alike = with_lines_alike(probe, found.missing);
    Watched watched(probe, found.sequence);
    for (int look = 0; look < kLooks && alike.empty(); ++look) {
        watched.look(0, kMinPasses);
        alike = with_lines_alike(probe, watched.missing());
    }
    return alike;
}

/// `count` different multiples of `alignment` within reach.
Offsets random_places(const Probe& probe, std::uint64_t alignment, std::size_t count) {
    std::set<std::uint64_t> places;
    while (places.size() < count) places.insert(probe.draw(probe.search_span() / alignment) * alignment);
    Offsets lines(places.begin(), places.end());
    std::shuffle(lines.begin(), lines.end(), probe.random());
    return lines;
}

/// Nothing where they stay after all.
std::optional<EvictionSet> checked(const Probe& probe, Offsets lines) {
    std::stable_sort(lines.begin(), lines.end(),
                     [](std::uint64_t a, std::uint64_t b) { return std::countr_zero(a) > std::countr_zero(b); });
    if (lines.size() < 2 || probe.fits(lines)) return std::nullopt;
    return EvictionSet{lines};
}

/// Of lines that overflow one after the other: the first set, from lists of growing length, by a quarter each time or,
/// where the first list is known to be about as long as stays, by ever more from two lines on.
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
        // A few lines that overflow by themselves are searched at once: to shorten the list takes more loads.
        const bool few = found.missing.size() <= kFewSearched && !probe.fits(found.missing);
        if (!few) found = first_to_overflow(probe, lines, low, std::move(found));
        if (found.missing.size() > kMaxSearched) return std::nullopt;
        if (!few && probe.fits(found.missing)) {
            const auto alike = with_lines_alike_in_time(probe, found);
            found.missing = alike.empty() ? with_resident_lines(probe, found) : alike;
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
    // Twice as far apart, half as many stayed; they need not be the first half of these.
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
    // Neighbours of these are tried as parts of the same line, so lines begin where they do.
    constexpr std::uint64_t kLongestLine = 4, kFewest = 4;
    const std::uint64_t alignment = kLongestLine * step;
    return first_eviction_set(
        probe, random_places(probe, alignment, std::min(most, probe.search_span() / alignment / 4)), kFewest, false);
}

}  // namespace gputomo::deduce::cache
