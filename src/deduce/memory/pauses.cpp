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

/// A load is late where it takes longer than the median by this part of it and by so many times what nine in ten are
/// within.
constexpr double kLate = 0.05, kBeyondSpread = 3, kMost = 0.9;
/// Loads that are released together wait for each other: the first quarter of them tells when that was, beside the
/// first quarter of other loads' latencies, those of hits in a cache (less than this part of the median) apart.
constexpr double kFirst = 0.25, kNoHit = 0.75;
/// Late loads that end within this part of the median latency of each other were released together.
constexpr double kTogether = 0.25;
/// Stalls that it takes to know an interval, and to say that there are none.
constexpr std::size_t kFewestStalls = 6, kMostByChance = 3;
/// From stall to stall: how far from a multiple of the interval, as a part of it, and how many of them have to be one.
constexpr double kOffMultiple = 0.1, kRegular = 0.8;
/// Pauses that left no trace between two stalls, and multiples of the interval that the median of times may be.
constexpr int kMostMissed = 5, kMultiples = 4;
/// Loads that began before the end of a stall: how far back, of the longest delay, and from where on a delay is more
/// than scatter.
constexpr double kFartherBack = 2, kSurely = 2;
/// Loads that may do otherwise than at the best length of a pause.
constexpr std::int64_t kAlmostAsFew = 3;
/// Standard deviations to either side.
constexpr double kDeviations = 2;

struct LateLoad {
    double end = 0, late = 0;
    std::uint32_t chain = 0;
};

struct Group {
    Stall stall;
    double released = 0;  ///< end of the pause, by its loads
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

/// Of those that are no hits.
double quick_latency(std::vector<double> latencies, double median) {
    std::erase_if(latencies, [&](double latency) { return latency < kNoHit * median; });
    return quantile(std::move(latencies), kFirst);
}

/// Late loads of two chains or more that ended together, where other loads take `latency`.
std::vector<Group> groups_of(const std::vector<LateLoad>& late, double together, double latency) {
    std::vector<Group> groups;
    for (std::size_t from = 0, to = 0; from < late.size(); from = to) {
        std::set<std::uint32_t> chains;
        std::vector<double> ends;
        Group group;
        for (to = from; to < late.size() && (to == from || late[to].end - late[to - 1].end <= together); ++to) {
            chains.insert(late[to].chain);
            ends.push_back(late[to].end);
            group.stall.longest_delay = std::max(group.stall.longest_delay, late[to].late);
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
    double regular = 0;  ///< part of the times between stalls
};

/// Between the stalls `times`, taken for so long.
Interval fitted(const std::vector<double>& times, double interval) {
    std::vector<double> single;
    double sum = 0;
    int intervals = 0;
    for (const double time : times) {
        const double multiple = std::round(time / interval);
        if (multiple < 1 || multiple > kMostMissed || std::abs(time / interval - multiple) > kOffMultiple) continue;
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
    const double reach = kDeviations * std::sqrt(squares / count / count);
    fit.low = fit.cycles - reach, fit.high = fit.cycles + reach;
    return fit;
}

/// The longest interval that explains the times between stalls.
std::optional<Interval> interval_of(const std::vector<Group>& groups) {
    if (groups.size() < kFewestStalls) return std::nullopt;
    std::vector<double> times;
    for (std::size_t i = 1; i < groups.size(); ++i) times.push_back(groups[i].stall.end - groups[i - 1].stall.end);
    const double middle = median(times);
    for (int part = 1; part <= kMultiples; ++part) {
        const auto coarse = fitted(times, middle / part);
        if (coarse.regular < kRegular) continue;
        return fitted(times, coarse.cycles);
    }
    return std::nullopt;
}

/// A load that began so long before the end of a stall, and whether it had to wait for it.
struct Witness {
    double before = 0;
    bool waited = false;
};

/// Of loads that came before the end of a stall, less a latency, those wait that came after the pause had begun, and no
/// others.
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

/// The length at which fewest loads did otherwise, and those at which hardly more did.
void add_time(std::span<const TimedLoad> loads, const std::vector<Group>& groups, MemoryPauses& found) {
    const auto witnesses = witnesses_of({loads.begin(), loads.end()}, groups, found);
    // Otherwise than they should do in a pause that began between a witness and the next one farther back.
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
    const auto best = range(fewest), likely = range(fewest + kAlmostAsFew);
    found.duration = (best.first + best.second) / 2;
    found.duration_low = likely.first, found.duration_high = likely.second;
}

/// Groups that loads make which are late each for a reason of its own.
double by_chance(const std::vector<LateLoad>& late, double together, double span) {
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
    if (chains.size() < 2) throw std::invalid_argument("find_pauses: loads of one chain; expected two chains or more");
    found.span = last - first;
    const auto latencies = latencies_of(loads);
    const auto late = late_loads(loads, latencies, found);
    const double together = kTogether * found.median_latency;
    auto groups = groups_of(late, together, quick_latency(latencies, found.median_latency));
    const auto keep_stalls = [&] {
        for (const auto& group : groups) found.stalls.push_back(group.stall);
    };
    // Stalls of many chains first: of pauses as long as a latency all have to wait, by accident hardly ever three.
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
        add_time(loads, groups, found);
        found.why =
            fmt::format("{} stalls of {} chains or more, {:.0f}% of the times between them multiples of one interval",
                        groups.size(), least, 100 * interval->regular);
        keep_stalls();
        return found;
    }
    const double chance = by_chance(late, together, found.span);
    const auto strong = static_cast<std::size_t>(std::ranges::count_if(
        groups, [&](const Group& group) { return group.stall.chains >= std::max<std::size_t>(3, chains.size() / 2); }));
    const bool none =
        strong < kMostByChance && static_cast<double>(all) <= static_cast<double>(kMostByChance) * (1 + chance);
    found.verdict = none ? MemoryPauses::Verdict::none : MemoryPauses::Verdict::open;
    found.why = fmt::format(
        "{} times loads of several chains came more than {:.0f} cycles late at once, {:.1f} would by chance", all,
        found.late_threshold, chance);
    keep_stalls();
    return found;
}

}  // namespace gputomo::deduce
