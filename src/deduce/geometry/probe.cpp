#include "deduce/geometry/probe.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <iterator>
#include <numeric>
#include <utility>

namespace gputomo::deduce::geometry {
namespace {

/// Laps of a look at a tour, and looks until they become longer. Each look takes another order: a pseudo-LRU policy may keep a line
/// that is not of the tour for ever in one order, but not in all.
constexpr std::uint32_t kShortLook = 8, kLongLook = 32, kShortLooks = 16;
constexpr std::uint32_t kMostSettling = 1024;
/// Orders of the lines in one tour.
constexpr std::uint64_t kMostOrders = 8;
/// Loads after which a tour whose misses do not end is one that does not fit.
constexpr std::uint64_t kMostPatience = std::uint64_t{1} << 21;
/// Bimodal policies let a line stay once in 32 fills: the last lines of a set take some times that.
constexpr double kSlowSettling = 160;
/// Per line of a tour: a random policy finds the last free way of as many after so many laps, but for one case in thousands.
constexpr double kRandomSettling = 8;
/// Misses a lap fell to less than this share: the tour is still settling.
constexpr double kFalling = 0.8;
/// Loads that many groups are given to settle in one order, at most: those that take longer are tried again.
constexpr std::uint64_t kMostGroupWarm = std::uint64_t{1} << 16;
/// With more accidents a lap than this, laps without a slow load are too rare to wait for.
constexpr double kMostAccidents = 2.5;
/// Loads of a small array, which tell how many readings are slow by accident.
constexpr std::uint64_t kQuietLines = 8, kQuietReadings = 16384;
/// Share of readings that may be slow by accident, at worst.
constexpr double kMostAccidental = 0.05;
/// Part of the slow readings that lies closest together, and how many times its width on either side still counts as usual; cycles at least.
constexpr double kPartOfSlow = 0.35, kTimesPart = 10, kLeastWidth = 10;
/// Part of them that is no accident where it lies nearly as close together, or within so many cycles.
constexpr double kSomeOfSlow = 0.05, kLeastPart = 4;
/// How much farther above the threshold than most misses others may lie; what is slower yet met another level as well.
constexpr double kFarther = 2;
constexpr std::size_t kFewestSlow = 16;
/// Laps of which a majority decides.
constexpr std::uint32_t kFewestDeciding = 3, kMostDeciding = 15;
/// Standard deviations beyond which a count is no accident.
constexpr double kSigmas = 5;

/// Smallest count of `laps` readings that accidents reach for fewer than one in a hundred tours of so many loads.
int least_count(double accidental, std::uint32_t laps, std::size_t loads) {
    const double mean = std::max(1e-4, accidental) * laps;
    double term = std::exp(-mean), tail = 1 - term;
    int count = 1;
    while (tail * static_cast<double>(loads) > 0.01 && count < static_cast<int>(laps)) {
        term *= mean / count++;
        tail -= term;
    }
    return count;
}

/// Where nearly all misses lie, as a sorted list of intervals: around the shortest one that holds a good part of the slow readings, and around
/// others of that width that hold some, such as those of a farther partition.
class UsualMisses {
public:
    UsualMisses(const std::vector<double>& latencies, double threshold) {
        std::vector<double> slow;
        std::ranges::copy_if(latencies, std::back_inserter(slow), [threshold](double latency) { return latency > threshold; });
        if (slow.size() < kFewestSlow) return;
        std::sort(slow.begin(), slow.end());
        const auto part = static_cast<std::size_t>(kPartOfSlow * static_cast<double>(slow.size()));
        std::size_t main = 0;
        for (std::size_t i = 0; i + part < slow.size(); ++i)
            if (slow[i + part] - slow[i] < slow[main + part] - slow[main]) main = i;
        const double width = slow[main + part] - slow[main], most = threshold + kFarther * (slow[main + part] - threshold);
        const double wide = std::max(kTimesPart * width, kLeastWidth);
        const auto some = static_cast<std::size_t>(std::ceil(kSomeOfSlow * static_cast<double>(slow.size())));
        for (std::size_t i = 0; i + some < slow.size(); ++i)
            if (slow[i + some] <= most && slow[i + some] - slow[i] <= std::max(2 * width, kLeastPart)) add({slow[i] - wide, slow[i + some] + wide});
    }
    [[nodiscard]] bool holds(double latency) const {
        return intervals_.empty() ||
               std::ranges::any_of(intervals_, [latency](const auto& interval) { return latency >= interval[0] && latency <= interval[1]; });
    }

private:
    void add(std::array<double, 2> interval) {
        if (!intervals_.empty() && interval[0] <= intervals_.back()[1])
            intervals_.back()[1] = std::max(intervals_.back()[1], interval[1]);
        else
            intervals_.push_back(interval);
    }
    std::vector<std::array<double, 2>> intervals_;  ///< empty: too few misses to tell
};

}  // namespace

Probe::Probe(const Chase& chase, const CacheQuestion& question)
    : chase_(chase), question_(question), span_(std::bit_floor(question.largest)), random_(question.seed) {
    if (question_.visible == 0) question_.visible = question_.word;
    move_origin(span_);
}

void Probe::move_origin(std::uint64_t span) {
    for (span_ = std::bit_floor(span); span_ > question_.word; span_ /= 2) {
        origin_ = (span_ - question_.base % span_) % span_;
        if (origin_ + span_ <= question_.largest) break;
    }
    reach_ = span_;
}

Probe::Recorded Probe::record(const Offsets& offsets, std::uint32_t warm, std::uint32_t laps) {
    if (loads_ > most_loads_) throw Exhausted();
    ChaseRequest request{offsets, warm, laps};
    for (auto& offset : request.offsets) offset += origin_;
    const auto trace = chase_(request);
    loads_ += offsets.size() * (std::uint64_t{warm} + laps);
    Recorded recorded{std::vector<bool>(trace.latencies.size()), std::vector<bool>(trace.latencies.size()),
                      std::max<std::size_t>(1, trace.unbroken == 0 ? trace.latencies.size() : trace.unbroken)};
    const UsualMisses usual(trace.latencies, question_.threshold);
    for (std::size_t i = 0; i < trace.latencies.size(); ++i) {
        recorded.missed[i] = trace.latencies[i] > question_.threshold;
        recorded.odd[i] = recorded.missed[i] && !usual.holds(trace.latencies[i]);
    }
    return recorded;
}

std::vector<double> Probe::miss_rates(const Offsets& offsets, std::uint32_t warm, std::uint32_t laps) {
    std::vector<double> rates(offsets.size(), 0.0);
    const auto missed = misses(offsets, warm, laps);
    for (std::size_t i = 0; i < missed.size(); ++i)
        if (missed[i]) rates[i % offsets.size()] += 1.0 / laps;
    return rates;
}

double Probe::accidents() {
    if (accidents_ >= 0) return accidents_;
    const std::uint64_t lines = std::max<std::uint64_t>(1, std::min<std::uint64_t>(kQuietLines, question_.fits / 4 / question_.visible));
    const auto missed = misses(strided(lines * question_.visible, question_.visible), 512, static_cast<std::uint32_t>(kQuietReadings / lines));
    const auto slow = static_cast<double>(std::count(missed.begin(), missed.end(), true));
    accidents_ = std::min(kMostAccidental, slow / static_cast<double>(std::max<std::size_t>(1, missed.size())));
    return accidents_;
}

std::uint32_t Probe::deciding_laps(std::size_t loads) {
    std::uint32_t laps = kFewestDeciding;
    while (laps < kMostDeciding && 2 * least_count(accidents(), laps, loads) > static_cast<int>(laps) + 1) laps += 2;
    return laps;
}

bool Probe::fits(const Offsets& offsets, std::size_t watched, std::uint32_t clean_laps) {
    if (offsets.empty() || watched == 0) return true;
    const double expected = accidents() * static_cast<double>(watched);
    if (expected * clean_laps > kMostAccidents) return long_tour_fits(offsets);
    double before = -1, slow = 0;
    std::uint32_t walked = 0, counted = 0;
    for (std::uint32_t look = 1;; ++look) {
        const std::uint32_t laps = look <= kShortLooks ? kShortLook : kLongLook;
        const auto slow_by_lap = watch(offsets, watched, laps);
        std::uint32_t clean = 0;
        for (const auto count : slow_by_lap) {
            ++walked;
            clean = count == 0 ? clean + 1 : 0;
            if (clean < clean_laps) continue;
            if (watched > 1) settling_ = std::max(settling_, std::min<std::uint32_t>(2 * walked, kMostSettling));
            return true;
        }
        for (std::size_t lap = slow_by_lap.size() / 2; lap < slow_by_lap.size(); ++lap, ++counted) slow += static_cast<double>(slow_by_lap[lap]);
        if (!std::has_single_bit(look)) continue;
        const double now = std::max(0.25, slow / std::max(1U, counted) - expected);
        const double needed = kShortLook + std::max(kRandomSettling * static_cast<double>(watched) / now, kSlowSettling / now) / now;
        const bool falling = before >= 0 && now < kFalling * before && walked * offsets.size() < kMostPatience / 4;
        if ((walked >= needed && !falling) || walked * offsets.size() > kMostPatience) return false;
        before = now;
        slow = counted = 0;
    }
}

std::pair<Offsets, std::vector<std::size_t>> Probe::in_orders(const Offsets& offsets, std::uint32_t rounds) {
    const std::uint64_t words = std::max<std::uint64_t>(1, piece_ / question_.word);
    const auto orders = static_cast<std::uint32_t>(std::min<std::uint64_t>({words, kMostOrders, rounds}));
    std::vector<std::size_t> order(offsets.size()), visited;
    std::iota(order.begin(), order.end(), std::size_t{0});
    Offsets tour;
    for (std::uint32_t word = 0; word < orders; ++word) {
        std::shuffle(order.begin(), order.end(), random_);
        for (const auto i : order) tour.push_back(offsets[i] + word * question_.word);
        visited.insert(visited.end(), order.begin(), order.end());
    }
    return {std::move(tour), std::move(visited)};
}

std::vector<std::size_t> Probe::watch(const Offsets& offsets, std::size_t watched, std::uint32_t rounds) {
    const auto [tour, visited] = in_orders(offsets, rounds);
    const auto orders = static_cast<std::uint32_t>(tour.size() / offsets.size());
    const auto missed = misses(tour, 0, rounds / orders);
    std::vector<std::size_t> slow(missed.size() / offsets.size(), 0);
    for (std::size_t i = 0; i < missed.size(); ++i)
        if (missed[i] && visited[i % tour.size()] < watched) ++slow[i / offsets.size()];
    return slow;
}

std::vector<double> Probe::miss_rates_in_any_order(const Offsets& offsets, std::uint32_t warm, std::uint32_t laps) {
    const auto [tour, visited] = in_orders(offsets, laps);
    const auto orders = static_cast<std::uint32_t>(tour.size() / offsets.size());
    const auto missed = misses(tour, (warm + orders - 1) / orders, laps / orders);
    std::vector<double> rates(offsets.size(), 0.0);
    for (std::size_t i = 0; i < missed.size(); ++i)
        if (missed[i]) rates[visited[i % tour.size()]] += 1.0 / (laps / orders * orders);
    return rates;
}

bool Probe::long_tour_fits(const Offsets& offsets) {
    const auto affordable = 2 * question_.most_loads / offsets.size();
    const auto laps = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(affordable, 6, 64));
    for (int look = 0;; ++look) {
        const auto rates = miss_rates_in_any_order(offsets, std::max(2U, look == 0 ? std::min(laps, settling_) : laps), laps);
        const double total = std::accumulate(rates.begin(), rates.end(), 0.0) * laps;
        const double expected = accidents() * laps * static_cast<double>(offsets.size());
        const double most = *std::max_element(rates.begin(), rates.end()) * laps;
        const bool stays = total < expected + laps / 2.0 + kSigmas * std::sqrt(expected) && most < least_count(accidents(), laps, offsets.size());
        if (stays || look == 2) return stays;
    }
}

std::vector<bool> Probe::groups_fit(std::vector<Offsets> groups) {
    constexpr std::uint32_t kOrders = 4;
    std::size_t largest = 1;
    for (const auto& group : groups) largest = std::max(largest, group.size());
    // Of a group that fits, a lap without a slow load comes after this many but for one case in a million.
    const double clean = std::pow(1 - accidents(), static_cast<double>(largest));
    const double wanted = std::log(1e-7) / std::log(1 - std::min(0.999, clean));
    const auto laps = static_cast<std::uint32_t>(std::clamp(wanted / kOrders, 2.0, 128.0));
    std::vector<bool> fit(groups.size(), false);
    for (std::uint32_t order = 0; order < kOrders; ++order) {
        Offsets tour;
        for (auto& group : groups) {
            std::shuffle(group.begin(), group.end(), random_);
            tour.insert(tour.end(), group.begin(), group.end());
        }
        const auto warm = static_cast<std::uint32_t>(std::min<std::uint64_t>(settling_ / kOrders, kMostGroupWarm / tour.size()));
        const auto missed = misses(tour, warm, laps);
        for (std::size_t at = 0, g = 0; at < missed.size(); g = (g + 1) % groups.size()) {
            const std::size_t end = at + groups[g].size();
            bool slow = false;
            for (; at < end; ++at) slow = slow || missed[at];
            fit[g] = fit[g] || !slow;
        }
    }
    return fit;
}

}  // namespace gputomo::deduce::geometry
