#include "deduce/cache/sets/sets.hpp"

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

namespace gputomo::deduce::cache {
namespace {

/// Most lines of one access sequence: `kMaxFilteredLines` where an upper level filters lookups, `kMaxLines` elsewhere.
/// A cache with more lines is tested by a sample of its sets.
constexpr std::uint64_t kMaxLines = 1 << 14, kMaxFilteredLines = 64;
/// Up to `kMaxUnequal` unequal sets are measured one by one, each up to `kMaxWays` ways. More would exceed any load
/// budget.
constexpr std::uint64_t kMaxUnequal = 1024, kMaxWays = 4096;
/// Caches of at most this many sets are tested set by set, because the last line of a set may take many passes to
/// become resident. With more sets that takes too long.
constexpr std::size_t kFewSets = 64;
/// Predictions to make, in at most `kMaxRounds` rounds. With 128 of them one wrong prediction lowers the confidence by
/// less than 0.01.
constexpr int kTrials = 128, kMaxRounds = 48;
/// After 1 / `kShareOfLoads` of the search's load budget, `kFewTrials` predictions are enough: large sets with a random
/// policy take many passes each.
constexpr int kFewTrials = 24;
/// Fewest access sequences that hold a group of each set. Each tries every set once. Caches with more lines than
/// `kMaxSequenceLines` are not tested this way.
constexpr int kMinSequences = 6;
constexpr std::uint64_t kMaxSequenceLines = 2048;
constexpr std::uint64_t kShareOfLoads = 8;
/// A set that seems full is tried `kAgain` times with one line more. A group that is not resident as predicted gets at
/// most `kMaxTries` tries. They end when no group became resident in `kMaxIdleTries` tries in a row.
constexpr int kAgain = 3, kMaxIdleTries = 6, kMaxTries = 24;

std::uint64_t most_lines(const Probe& probe) { return probe.filtered() ? kMaxFilteredLines : kMaxLines; }

Offsets lines_of(const Index& index, std::uint64_t set, std::uint64_t count) {
    Offsets lines(count);
    for (std::uint64_t i = 0; i < count; ++i) lines[i] = index.line_of(set, i);
    return lines;
}

std::vector<std::uint64_t> sets_to_look_at(const Probe& probe, std::uint64_t sets, std::uint64_t most) {
    std::vector<std::uint64_t> chosen(sets);
    std::iota(chosen.begin(), chosen.end(), std::uint64_t{0});
    if (sets <= most) return chosen;
    std::shuffle(chosen.begin(), chosen.end(), probe.random());
    chosen.resize(std::max<std::uint64_t>(1, most));
    return chosen;
}

/// Number of ways of one set, near `expected`.
std::uint64_t ways_of(const Probe& probe, const Index& index, std::uint64_t set, std::uint64_t expected) {
    const std::uint64_t most = std::min(kMaxWays, index.lines_in_span());
    const auto fits = [&](std::uint64_t count) {
        return count <= most && probe.fits_eventually(lines_of(index, set, count));
    };
    std::uint64_t low = 0, high = expected;
    while (fits(high)) {
        low = high;
        high *= 2;
    }
    while (high - low > 1) {
        const std::uint64_t middle = low + (high - low) / 2;
        (fits(middle) ? low : high) = middle;
    }
    // One pass without a miss proves that the lines fit. Misses do not prove that they overflow, because some policies
    // take many passes to make the last line resident.
    for (int again = 0; again < kAgain; ++again)
        if (fits(low + 1)) ++low;
    return low;
}

/// `count` lines of one set in random order, each at a random word.
Offsets random_group(const Probe& probe, const Index& index, std::uint64_t set, std::uint64_t count) {
    const std::uint64_t lines_in_span = index.lines_in_span(),
                        words = std::max<std::uint64_t>(1, index.line() / probe.question().word);
    std::set<std::uint64_t> numbers;
    while (numbers.size() < count)
        numbers.insert(lines_in_span < 2 * count ? numbers.size() : probe.draw(lines_in_span));
    Offsets group;
    for (const auto number : numbers)
        group.push_back(index.line_of(set, number) + probe.draw(words) * probe.question().word);
    std::shuffle(group.begin(), group.end(), probe.random());
    return group;
}

struct Group {
    std::uint64_t set = 0;
    bool predicted = false;  ///< predicted to be resident
};

/// Tries the groups again while some that are predicted to be resident are not. All groups share each access sequence:
/// if the index takes one set for two, only lines of both in one sequence overflow it.
std::vector<bool> which_fit(const Probe& probe, const std::vector<Offsets>& groups,
                            const std::vector<Group>& groups_drawn) {
    auto fit = probe.groups_fit(groups);
    for (int again = 0, all = 0; again < kMaxIdleTries && all < kMaxTries; ++again, ++all) {
        bool missing = all == 0;
        for (std::size_t g = 0; g < groups.size(); ++g) missing = missing || (groups_drawn[g].predicted && !fit[g]);
        if (!missing) break;
        if (again > 0) probe.settle_longer();
        const auto now = probe.groups_fit(groups);
        for (std::size_t g = 0; g < groups.size(); ++g) {
            // While some groups become resident, others may too.
            if (now[g] && !fit[g] && groups_drawn[g].predicted) again = 0;
            fit[g] = fit[g] || now[g];
        }
    }
    return fit;
}

}  // namespace

SetWays find_set_ways(const Probe& probe, const Index& index, std::uint64_t expected) {
    if (index.lines_in_span() <= expected) return {};
    SetWays found;
    const auto chosen = sets_to_look_at(probe, index.sets(), most_lines(probe) / (expected + 1));
    found.every_set = chosen.size() == index.sets();
    std::vector<Offsets> full, eviction_set;
    for (const auto set : chosen) {
        full.push_back(lines_of(index, set, expected));
        eviction_set.push_back(lines_of(index, set, expected + 1));
    }
    const auto full_fits = probe.groups_fit(full);
    auto one_more_fits = probe.groups_fit(eviction_set);
    // A few sets can be tested one by one, each with as many passes as it needs.
    for (std::size_t i = 0; i < chosen.size() && found.every_set && chosen.size() <= kFewSets; ++i)
        one_more_fits[i] = one_more_fits[i] || probe.fits_eventually(eviction_set[i]);
    std::vector<std::size_t> unusual;
    for (std::size_t i = 0; i < chosen.size(); ++i)
        if (one_more_fits[i] || (!full_fits[i] && !probe.fits_eventually(full[i]))) unusual.push_back(i);
    found.ways.assign(index.sets(), expected);
    if (unusual.empty()) return found;
    if (unusual.size() > kMaxUnequal || !found.every_set) return {};
    for (const auto i : unusual) found.ways[chosen[i]] = ways_of(probe, index, chosen[i], expected);
    return found;
}

Trials predict_groups(const Probe& probe, const Index& index, std::vector<std::uint64_t>& ways) {
    Trials trials;
    const std::uint64_t largest = *std::max_element(ways.begin(), ways.end()), lines_in_span = index.lines_in_span();
    const bool unequal = std::ranges::any_of(ways, [&](std::uint64_t w) { return w != largest; });
    // One round tests at most a quarter of the sets. Lines that fill the whole cache overflow sets whatever the index
    // is, so a wrong index would seem to predict these misses.
    const std::uint64_t at_once = std::max<std::uint64_t>(
        1, std::min({index.sets() / 4, most_lines(probe) / 4 / (largest + 1), std::uint64_t{kTrials}}));
    const std::uint64_t many_loads = probe.loads() + probe.question().group_test_loads / kShareOfLoads;
    for (int round = 0; round < kMaxRounds && trials.made < kTrials; ++round) {
        if (trials.made >= kFewTrials && probe.loads() > many_loads) return trials;
        std::vector<Offsets> groups;
        std::vector<Group> groups_drawn;
        for (const auto set : sets_to_look_at(probe, index.sets(), at_once)) {
            const bool fits = probe.draw(2) == 0;
            const std::uint64_t count = ways[set] + (fits ? 0 : 1);
            if (count > lines_in_span || count == 0) continue;
            groups.push_back(random_group(probe, index, set, count));
            groups_drawn.push_back({set, fits});
        }
        if (groups.empty()) return trials;
        const auto fit = which_fit(probe, groups, groups_drawn);
        for (std::size_t g = 0; g < groups.size(); ++g) {
            trials.agreed += fit[g] == groups_drawn[g].predicted ? 1 : 0;
            ++trials.made;
            if (!fit[g] && groups_drawn[g].predicted && unequal) ++trials.doubts;
            if (!fit[g] || groups_drawn[g].predicted) continue;
            const auto before = std::exchange(ways[groups_drawn[g].set],
                                              ways_of(probe, index, groups_drawn[g].set, ways[groups_drawn[g].set]));
            trials.doubts += ways[groups_drawn[g].set] == before ? 0 : 1;
        }
        if (trials.hopeless()) return trials;
    }
    return trials;
}

Trials predict_groups_of_all_sets(const Probe& probe, const Index& index, std::uint64_t ways) {
    Trials trials;
    if (index.sets() * (ways + 1) > kMaxSequenceLines || index.lines_in_span() <= ways) return trials;
    for (int sequence = 0; sequence < kMinSequences || trials.made < kFewTrials; ++sequence) {
        std::vector<Offsets> groups;
        std::vector<Group> groups_drawn;
        for (std::uint64_t set = 0; set < index.sets(); ++set) {
            groups_drawn.push_back({set, probe.draw(2) == 0});
            groups.push_back(random_group(probe, index, set, ways + (groups_drawn.back().predicted ? 0 : 1)));
        }
        const auto fit = which_fit(probe, groups, groups_drawn);
        for (std::size_t g = 0; g < groups.size(); ++g) trials.agreed += fit[g] == groups_drawn[g].predicted ? 1 : 0;
        trials.made += static_cast<int>(groups.size());
    }
    return trials;
}

}  // namespace gputomo::deduce::cache
