#include "deduce/geometry/full_set.hpp"

#include <algorithm>
#include <bit>

namespace gputomo::deduce::geometry {
namespace {

/// Times that a guess about a whole set is tried with other lines.
constexpr int kDraws = 3;
/// A tour of more lines than this is searched only for those that miss in it.
constexpr std::size_t kMostSearched = 3000;

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
std::uint64_t longest_that_fits(Probe& probe, std::uint64_t distance, std::uint64_t low, std::uint64_t high) {
    while (high - low > 1) {
        const std::uint64_t middle = low + (high - low) / 2;
        (probe.fits(multiples(distance, middle)) ? low : high) = middle;
    }
    return low;
}

/// Whether all lines so far apart are of one set with so many ways: then any lines will do, not only the first ones.
bool all_collide(Probe& probe, std::uint64_t distance, std::uint64_t ways) {
    const std::uint64_t room = probe.reach() / distance;
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

/// Where lines are dealt to sets one after the other, as many stay as there are sets times ways: of the ways that divide that number,
/// those that behave like one set's. Empty where none does.
Offsets dealt_lines(Probe& probe, std::uint64_t distance, std::uint64_t fitting) {
    constexpr std::uint64_t kMostWays = 256, kFewestSets = 3;
    for (std::uint64_t ways = 1; ways <= kMostWays && ways * kFewestSets <= fitting; ++ways) {
        if (fitting % ways != 0 || (ways + 1) * (fitting / ways) * distance > probe.span()) continue;
        const Offsets lines = multiples(fitting / ways * distance, ways + 1);
        if (probe.fits(Offsets(lines.begin(), lines.end() - 1)) && !probe.fits(lines)) return lines;
    }
    return {};
}

/// Lines of a tour that does not fit which miss more often than the others.
Offsets suspects(Probe& probe, const Offsets& tour) {
    constexpr std::uint32_t kLaps = 24;
    const auto rates = probe.miss_rates(tour, probe.settling(), kLaps);
    Offsets missing;
    for (std::size_t i = 0; i < tour.size(); ++i)
        if (rates[i] > 0.5) missing.push_back(tour[i]);
    return missing;
}

}  // namespace

Offsets smallest_overflow(Probe& probe, Offsets background, const Offsets& candidates) {
    if (candidates.size() == 1) return candidates;
    const auto half = candidates.begin() + static_cast<std::ptrdiff_t>(candidates.size() / 2);
    const Offsets first(candidates.begin(), half), second(half, candidates.end());
    const auto first_too = joined(background, first);
    const Offsets of_second = probe.fits(first_too) ? smallest_overflow(probe, first_too, second) : Offsets{};
    const auto second_needed = joined(std::move(background), of_second);
    const Offsets of_first = probe.fits(second_needed) ? smallest_overflow(probe, second_needed, first) : Offsets{};
    return joined(of_first, of_second);
}

std::optional<Overfull> find_overfull(Probe& probe, std::uint64_t step) {
    std::uint64_t count = 2;
    while (count < probe.reach() / step && probe.fits(multiples(probe.reach() / count, count))) count *= 2;
    const std::uint64_t distance = probe.reach() / count;
    // Twice as far apart, half as many stayed; they need not be the first half of these.
    const std::uint64_t ways = longest_that_fits(probe, distance, 1, count);
    if (ways + 1 == count && probe.fits(multiples(distance, count))) return std::nullopt;
    Offsets lines = multiples(distance, ways + 1);
    if (!all_collide(probe, distance, ways)) {
        if (const Offsets dealt = dealt_lines(probe, distance, ways); !dealt.empty()) return Overfull{dealt};
        const Offsets missing = suspects(probe, lines);
        if (missing.size() > 1 && missing.size() < lines.size() && !probe.fits(missing)) lines = missing;
        if (lines.size() > kMostSearched) return std::nullopt;
        lines = smallest_overflow(probe, {}, lines);
    }
    std::stable_sort(lines.begin(), lines.end(), [](std::uint64_t a, std::uint64_t b) { return std::countr_zero(a) > std::countr_zero(b); });
    if (lines.size() < 2 || probe.fits(lines)) return std::nullopt;
    return Overfull{lines};
}

}  // namespace gputomo::deduce::geometry
