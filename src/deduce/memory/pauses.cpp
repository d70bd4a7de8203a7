#include "deduce/memory/pauses.hpp"

#include "units/statistics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <set>
#include <stdexcept>
#include <utility>

namespace gputomo::deduce {
namespace {

// The numbers below are chosen by hand; the tests check them on made-up memories with jitter, outliers and cache hits.

/// A load is late if its latency exceeds the median by `kLate` of the median, and by `kBeyondSpread` times the distance
/// from the median to the quantile `kMost`. Smaller values let jitter pass for delays, larger ones hide short pauses.
constexpr double kLate = 0.05, kBeyondSpread = 3, kMost = 0.9;
/// Loads that a pause releases together then queue for each other, so only the first of them date its end. This
/// quantile of their completions counts, less the same quantile of the latencies of undelayed loads.
constexpr double kFirst = 0.25;
/// A latency below this share of the median is a cache hit: it says nothing about the memory.
constexpr double kNoHit = 0.75;
/// Late loads were released together if their completions follow each other within this share of the median latency.
constexpr double kTogether = 0.25;
/// An interval needs at least this many stalls.
constexpr std::size_t kFewestStalls = 6;
/// "No pauses" needs fewer stalls of many chains than this, and at most this many times the random coincidences in all.
constexpr std::size_t kMostAtRandom = 3;
/// A time between stalls is a multiple of the interval if it is off by at most `kOffMultiple` intervals. Regular
/// pauses need a share of `kRegular` of these times to be multiples.
constexpr double kOffMultiple = 0.1, kRegular = 0.8;
/// Pauses that no load met leave a longer time between stalls. Times beyond `kMaxMultiple` intervals are ignored,
/// and the median of the times may be up to `kMaxMedianMultiple` intervals.
constexpr int kMaxMultiple = 5, kMaxMedianMultiple = 4;
/// Witnesses of a pause's length began at most `kFartherBack` longest delays before its end, and at least `kSurely`
/// late thresholds before it. A load that began later is delayed by no more than scatter.
constexpr double kFartherBack = 2, kSurely = 2;
/// Lengths of a pause that misclassify at most this many loads more than the best one make its interval.
constexpr std::int64_t kMoreMisclassified = 3;
/// Standard errors to either side of the interval between pauses that are reported.
constexpr double kDeviations = 2;

struct LateLoad {
    double end = 0, delay = 0;  ///< cycles; the delay is beyond the median latency
    std::uint32_t chain = 0;
};

struct Group {
    Stall stall;
    double released = 0;  ///< cycle at which the pause ended, by the first of its loads
};

std::vector<double> latencies_of(std::span<const TimedLoad> loads) {
    std::vector<double> latencies;
    for (const auto& load : loads) latencies.push_back(load.end - load.begin);
    return latencies;
}

std::vector<LateLoad> late_loads(std::span<const TimedLoad> loads, const std::vector<double>& latencies,
                                 MemoryPauses& found) {
    found.median_latency = median(latencies);
    found.late_threshold =
        std::max(kLate * found.median_latency, kBeyondSpread * (quantile(latencies, kMost) - found.median_latency));
    std::vector<LateLoad> late;
    for (std::size_t i = 0; i < loads.size(); ++i)
        if (latencies[i] - found.median_latency > found.late_threshold)
            late.push_back({loads[i].end, latencies[i] - found.median_latency, loads[i].chain});
    std::ranges::sort(late, {}, &LateLoad::end);
    return late;
}

/// Latency of a load that nothing delays, cache hits left out.
double undelayed_latency(std::vector<double> latencies, double median) {
    std::erase_if(latencies, [&](double latency) { return latency < kNoHit * median; });
    return quantile(std::move(latencies), kFirst);
}

/// Groups of late loads of at least two chains whose completions follow each other within `together` cycles. `latency`:
/// cycles of a load that nothing delays.
std::vector<Group> group_late_loads(const std::vector<LateLoad>& late, double together, double latency) {
    std::vector<Group> groups;
    for (std::size_t from = 0, to = 0; from < late.size(); from = to) {
        std::set<std::uint32_t> chains;
        std::vector<double> ends;
        Group group;
        for (to = from; to < late.size() && (to == from || late[to].end - late[to - 1].end <= together); ++to) {
            chains.insert(late[to].chain);
            ends.push_back(late[to].end);
            group.stall.longest_delay = std::max(group.stall.longest_delay, late[to].delay);
        }
        if (chains.size() < 2) continue;
        group.stall.end = quantile(std::move(ends), kFirst);
        group.stall.chains = chains.size();
        group.released = group.stall.end - latency;
        groups.push_back(group);
    }
    return groups;
}

struct Interval {
    double cycles = 0, low = 0, high = 0;
    double regular = 0;  ///< share of the times between stalls that are multiples of it
};

/// Refines `interval` with those of the `times` between stalls that are multiples of it.
Interval refined_interval(const std::vector<double>& times, double interval) {
    std::vector<double> single;
    double sum = 0;
    int intervals = 0;
    for (const double time : times) {
        const double multiple = std::round(time / interval);
        if (multiple < 1 || multiple > kMaxMultiple || std::abs(time / interval - multiple) > kOffMultiple) continue;
        single.push_back(time / multiple);
        sum += time;
        intervals += static_cast<int>(multiple);
    }
    if (intervals == 0) return {};
    Interval fit{.cycles = sum / intervals,
                 .regular = static_cast<double>(single.size()) / static_cast<double>(times.size())};
    double squares = 0;
    for (const double each : single) squares += (each - fit.cycles) * (each - fit.cycles);
    const auto count = static_cast<double>(single.size());
    const double margin = kDeviations * std::sqrt(squares / count / count);
    fit.low = fit.cycles - margin, fit.high = fit.cycles + margin;
    return fit;
}

/// The longest interval of which enough times between stalls are multiples. nullopt if there is none.
std::optional<Interval> interval_of(const std::vector<Group>& groups) {
    if (groups.size() < kFewestStalls) return std::nullopt;
    std::vector<double> times;
    for (std::size_t i = 1; i < groups.size(); ++i) times.push_back(groups[i].stall.end - groups[i - 1].stall.end);
    const double middle = median(times);
    for (int part = 1; part <= kMaxMedianMultiple; ++part) {
        const auto coarse = refined_interval(times, middle / part);
        if (coarse.regular < kRegular) continue;
        return refined_interval(times, coarse.cycles);
    }
    return std::nullopt;
}

/// A load that began before a pause ended.
struct Witness {
    double before = 0;    ///< cycles from its start to the end of the pause
    bool waited = false;  ///< whether it was late by more than half of these cycles
};

/// The loads that began shortly before each pause ended, in ascending order of `before`. Those that began
/// during the pause have waited for its end, and the others have not.
std::vector<Witness> witnesses_of(std::vector<TimedLoad> loads, const std::vector<Group>& groups,
                                  const MemoryPauses& found) {
    double longest = 0;
    for (const auto& group : groups) longest = std::max(longest, group.stall.longest_delay);
    std::ranges::sort(loads, {}, &TimedLoad::begin);
    std::vector<Witness> witnesses;
    for (const auto& group : groups) {
        const double released = group.released;
        for (auto load = std::ranges::lower_bound(loads, released - kFartherBack * longest, {}, &TimedLoad::begin);
             load != loads.end() && load->begin < released - kSurely * found.late_threshold; ++load) {
            const double before = released - load->begin;
            witnesses.push_back({before, load->end - load->begin - found.median_latency > before / 2});
        }
    }
    std::ranges::sort(witnesses, {}, &Witness::before);
    return witnesses;
}

/// Sets the duration that misclassifies the fewest witnesses, and the range that misclassifies hardly more.
void set_duration(std::span<const TimedLoad> loads, const std::vector<Group>& groups, MemoryPauses& found) {
    const auto witnesses = witnesses_of({loads.begin(), loads.end()}, groups, found);
    // wrong[i]: witnesses misclassified if the pause began between witnesses i - 1 and i.
    std::vector<std::int64_t> wrong{std::ranges::count_if(witnesses, &Witness::waited)};
    for (const auto& witness : witnesses) wrong.push_back(wrong.back() + (witness.waited ? -1 : 1));
    const std::int64_t fewest = std::ranges::min(wrong);
    const auto back = [&](std::size_t i) {
        return i < witnesses.size() ? witnesses[i].before
               : witnesses.empty()  ? found.late_threshold
                                    : witnesses.back().before;
    };
    const auto range = [&](std::int64_t most) {
        const auto good = [&](std::int64_t count) { return count <= most; };
        const auto first = static_cast<std::size_t>(std::ranges::find_if(wrong, good) - wrong.begin());
        const auto last =
            static_cast<std::size_t>(std::ranges::find_if(wrong.rbegin(), wrong.rend(), good).base() - wrong.begin()) -
            1;
        return std::pair(first > 0 ? back(first - 1) : found.late_threshold, back(last));
    };
    const auto best = range(fewest), likely = range(fewest + kMoreMisclassified);
    found.duration = (best.first + best.second) / 2;
    found.duration_low = likely.first, found.duration_high = likely.second;
}

/// Expected groups among loads that are late independently of each other: pairs that end within `together` cycles.
double groups_at_random(const std::vector<LateLoad>& late, double together, double span) {
    const auto count = static_cast<double>(late.size());
    return count * count * together / std::max(span, 1.0);
}

}  // namespace

MemoryPauses find_pauses(std::span<const TimedLoad> loads) {
    std::set<std::uint32_t> chains;
    MemoryPauses found;
    double first = 0, last = 0;
    for (const auto& load : loads) {
        if (chains.insert(load.chain).second && chains.size() == 1) first = load.begin, last = load.end;
        first = std::min(first, load.begin), last = std::max(last, load.end);
    }
    if (chains.size() < 2)
        throw std::invalid_argument(fmt::format("find_pauses: found {} chains; expected at least two", chains.size()));
    found.span = last - first;
    const auto latencies = latencies_of(loads);
    const auto late = late_loads(loads, latencies, found);
    const double together = kTogether * found.median_latency;
    auto groups = group_late_loads(late, together, undelayed_latency(latencies, found.median_latency));
    const auto keep_stalls = [&] {
        for (const auto& group : groups) found.stalls.push_back(group.stall);
    };
    // Stalls of many chains come first: a pause as long as a latency delays all chains, while three chains hardly ever
    // coincide at random.
    const std::size_t all = groups.size();
    for (const std::size_t least : {chains.size() / 2, chains.size() / 4, std::size_t{2}}) {
        if (least < 2) continue;
        auto strong = groups;
        std::erase_if(strong, [&](const Group& group) { return group.stall.chains < least; });
        const auto interval = interval_of(strong);
        if (!interval) continue;
        groups = std::move(strong);
        found.verdict = MemoryPauses::Verdict::regular;
        found.interval = interval->cycles, found.interval_low = interval->low, found.interval_high = interval->high;
        set_duration(loads, groups, found);
        found.why = fmt::format(
            "{} stalls of at least {} chains; {:.0f}% of the times between them are multiples of one interval",
            groups.size(), least, 100 * interval->regular);
        keep_stalls();
        return found;
    }
    const double random = groups_at_random(late, together, found.span);
    const auto strong = static_cast<std::size_t>(std::ranges::count_if(
        groups, [&](const Group& group) { return group.stall.chains >= std::max<std::size_t>(3, chains.size() / 2); }));
    const bool none =
        strong < kMostAtRandom && static_cast<double>(all) <= static_cast<double>(kMostAtRandom) * (1 + random);
    found.verdict = none ? MemoryPauses::Verdict::none : MemoryPauses::Verdict::open;
    found.why = fmt::format(
        "{} times, loads of several chains were more than {:.0f} cycles late at once; at random this happens {:.1f} "
        "times",
        all, found.late_threshold, random);
    keep_stalls();
    return found;
}

}  // namespace gputomo::deduce
