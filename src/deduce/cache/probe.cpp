#include "deduce/cache/probe.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <utility>

namespace gputomo::deduce::cache {
namespace {

/// Laps of a look at a tour, and looks until they become longer. Each look takes another order: a pseudo-LRU policy may
/// keep a line that is not of the tour for ever in one order, but not in all.
constexpr std::uint32_t kShortLook = 8, kLongLook = 32, kShortLooks = 16;
/// Orders of the lines in one tour.
constexpr std::uint64_t kMostOrders = 8;
/// Loads after which a tour whose misses do not end is one that does not fit.
constexpr std::uint64_t kMostPatience = std::uint64_t{1} << 21;
/// Bimodal policies let a line stay once in 32 fills: the last lines of a set take some times that.
constexpr double kSlowSettling = 160;
/// Per line of a tour: a random policy finds the last free way of as many after so many laps, but for one case in
/// thousands.
constexpr double kRandomSettling = 8;
/// Times as long where it matters: a tree of 85 ways needs 41 random orders, as a rule, and 141 at worst, in each of
/// which ten lines miss.
constexpr double kLate = 2;
/// Misses a lap fell to less than this share: the tour is still settling.
constexpr double kFalling = 0.8;
/// Loads that many groups are given to settle in one order, at most: those that take longer are tried again.
constexpr std::uint64_t kMostGroupWarm = std::uint64_t{1} << 16;
/// With more accidents a lap than this, laps without a slow load are too rare to wait for.
constexpr double kMostAccidents = 2.5;
/// And where accidents are told from misses, laps more than one or two without a miss that it takes.
constexpr std::uint32_t kLapsMore = 2;
/// Slow loads from which it is seen how long misses take; and the share of a tour's that they are at least.
constexpr std::ptrdiff_t kManyMisses = 256;
/// Loads of a small array, which tell how many readings are slow by accident.
constexpr std::uint64_t kQuietLines = 8, kQuietReadings = 16384;
/// Share of readings that may be slow by accident, at worst.
constexpr double kMostAccidental = 0.05;
/// Lines of an array that overflows, and laps through them, that show whether it matters that a line is used again at
/// once: the share of misses there must be, and the share by which they become more.
constexpr std::uint64_t kReuseLines = 4096;
constexpr std::uint32_t kReuseWarm = 64, kReuseLaps = 8;
/// Part of the loads for group tests after which it is not asked any longer.
constexpr std::uint64_t kReuseShare = 8;
constexpr double kReuseMisses = 0.1, kReuseMatters = 0.1;
/// Laps of which a majority decides.
constexpr std::uint32_t kFewestDeciding = 3, kMostDeciding = 15;
/// Standard deviations beyond which a count is no accident.
constexpr double kSigmas = 5;

}  // namespace

int least_count(double accidental, std::uint32_t laps, std::size_t loads, double of_tours) {
    const double mean = std::max(1e-4, accidental) * laps;
    double term = std::exp(-mean), tail = 1 - term;
    int count = 1;
    while (tail * static_cast<double>(loads) > of_tours && count < static_cast<int>(laps)) {
        term *= mean / count++;
        tail -= term;
    }
    return count;
}

Probe::Probe(const Chase& chase, const CacheQuestion& question)
    : chase_(chase), question_(question), span_(std::bit_floor(question.buffer_bytes)), random_(question.seed) {
    if (question_.probe_stride == 0) question_.probe_stride = question_.word;
    move_origin(span_);
}

void Probe::move_origin(std::uint64_t span) {
    for (span_ = std::bit_floor(span); span_ > question_.word; span_ /= 2) {
        origin_ = (span_ - question_.base % span_) % span_;
        if (origin_ + span_ <= question_.buffer_bytes) break;
    }
    reach_ = span_;
}

ChaseTrace Probe::walk(const Offsets& offsets, std::uint32_t warm, std::uint32_t laps, std::size_t visits) {
    const std::uint64_t loads = offsets.size() * visits * (std::uint64_t{warm} + laps);
    if (loads > loads_left()) throw Exhausted();
    ChaseRequest request{{}, warm, laps};
    request.offsets.reserve(offsets.size() * visits);
    for (const auto offset : offsets)
        for (std::size_t i = 0; i < visits; ++i) request.offsets.push_back(origin_ + (offset ^ (i * question_.word)));
    auto trace = chase_(request);
    loads_ += loads;
    if (visits > 1) {
        for (std::size_t i = 0; i * visits < trace.latencies.size(); ++i)
            trace.latencies[i] = trace.latencies[i * visits];
        trace.latencies.resize(trace.latencies.size() / visits);
    }
    const auto slow =
        std::ranges::count_if(trace.latencies, [this](double latency) { return latency > question_.threshold; });
    const double share =
        static_cast<double>(slow) / static_cast<double>(std::max<std::size_t>(1, trace.latencies.size()));
    if (slow >= kManyMisses && share > most_slow_) {
        most_slow_ = share;
        usual_ = UsualMisses(trace.latencies, question_.threshold);
    }
    return trace;
}

Probe::Recorded Probe::record(const Offsets& offsets, std::uint32_t warm, std::uint32_t laps) {
    const auto trace = walk(offsets, warm, laps, 1);
    auto recorded = sorted(trace, UsualMisses(trace.latencies, question_.threshold));
    recorded.segment_loads =
        std::max<std::size_t>(1, trace.segment_loads == 0 ? trace.latencies.size() : trace.segment_loads);
    return recorded;
}

Probe::Recorded Probe::sorted(const ChaseTrace& trace, const UsualMisses& usual) const {
    Recorded recorded{std::vector<bool>(trace.latencies.size()), std::vector<bool>(trace.latencies.size())};
    for (std::size_t i = 0; i < trace.latencies.size(); ++i) {
        recorded.missed[i] = trace.latencies[i] > question_.threshold;
        recorded.odd[i] = recorded.missed[i] && !usual.holds(trace.latencies[i]);
    }
    return recorded;
}

std::vector<bool> Probe::misses(const Offsets& offsets, std::uint32_t warm, std::uint32_t laps) {
    return std::move(sorted(walk(offsets, warm, laps, visits_), usual_).missed);
}

std::vector<bool> Probe::misses_beside_accidents(const Offsets& offsets, std::uint32_t warm, std::uint32_t laps) {
    const auto trace = walk(offsets, warm, laps, visits_);
    auto recorded = sorted(trace, usual_);
    const double expected = accidents() * static_cast<double>(recorded.odd.size());
    // Of the count, and of the rate, which is known from so many accidents.
    const double variance =
        expected + expected * expected / static_cast<double>(std::max<std::size_t>(1, slow_hits_.size()));
    const auto odd = static_cast<double>(std::count(recorded.odd.begin(), recorded.odd.end(), true));
    // More of them than accidents explain: misses that take another time than those that were seen.
    if (odd > expected + kSigmas * std::sqrt(variance) + 2) return std::move(recorded.missed);
    for (std::size_t i = 0; i < recorded.odd.size(); ++i) recorded.missed[i] = recorded.missed[i] && !recorded.odd[i];
    return std::move(recorded.missed);
}

std::vector<double> Probe::miss_rates(const Offsets& offsets, std::uint32_t warm, std::uint32_t laps) {
    std::vector<double> rates(offsets.size(), 0.0);
    const auto missed = misses(offsets, warm, laps);
    for (std::size_t i = 0; i < missed.size(); ++i)
        if (missed[i]) rates[i % offsets.size()] += 1.0 / laps;
    return rates;
}

void Probe::visit_twice_if_that_matters() {
    visits_ = 1;
    if (hidden() || piece_ < 2 * question_.word) return;
    const std::uint64_t bytes = std::min(question_.overflows + question_.overflows / 2, question_.buffer_bytes);
    const auto misses_of = [&](std::uint64_t step) {
        const auto rates = miss_rates(strided(bytes, step), kReuseWarm, kReuseLaps);
        return std::accumulate(rates.begin(), rates.end(), 0.0) / static_cast<double>(rates.size());
    };
    std::uint64_t step = piece_;
    while (bytes / step > kReuseLines) step *= 2;
    // Far apart, lines may be spread over so many sets that they stay.
    const std::uint64_t most = loads_ + question_.group_test_loads / kReuseShare;
    double once = misses_of(step);
    while (once < kReuseMisses && step > piece_ && loads_ < most) once = misses_of(step /= 2);
    if (once < kReuseMisses) return;
    visits_ = 2;
    if (misses_of(step) < once + kReuseMatters) visits_ = 1;
}

void Probe::look_at_hits() {
    if (hits_ > 0) return;
    const std::uint64_t lines =
        std::max<std::uint64_t>(1, std::min<std::uint64_t>(kQuietLines, question_.fits / 4 / question_.probe_stride));
    const auto trace = walk(strided(lines * question_.probe_stride, question_.probe_stride), 512,
                            static_cast<std::uint32_t>(kQuietReadings / lines), 1);
    hits_ = std::max<std::size_t>(1, trace.latencies.size());
    std::ranges::copy_if(trace.latencies, std::back_inserter(slow_hits_),
                         [this](double latency) { return latency > question_.threshold; });
}

double Probe::accidents() {
    look_at_hits();
    return std::min(kMostAccidental, static_cast<double>(slow_hits_.size()) / static_cast<double>(hits_));
}

double Probe::accidents_like_misses() {
    look_at_hits();
    const auto alike = std::ranges::count_if(slow_hits_, [this](double latency) { return usual_.holds(latency); });
    return std::min(accidents(), (static_cast<double>(alike) + 1) / static_cast<double>(hits_));
}

std::uint32_t Probe::deciding_laps(std::size_t loads) {
    std::uint32_t laps = kFewestDeciding;
    while (laps < kMostDeciding && 2 * least_count(accidents(), laps, loads) > static_cast<int>(laps) + 1) laps += 2;
    return laps;
}

bool Probe::fits(const Offsets& offsets, std::size_t watched, std::uint32_t clean_laps, Patience patience) {
    if (offsets.empty() || watched == 0) return true;
    double expected = accidents() * static_cast<double>(watched);
    const bool many = expected * clean_laps > kMostAccidents;
    if (many) {
        // Only what is as slow as a miss counts. An accident may hide a miss, but hardly in each of several laps.
        expected = accidents_like_misses() * static_cast<double>(watched);
        clean_laps += kLapsMore;
        if (expected * clean_laps > kMostAccidents) return long_tour_fits(offsets);
    }
    double before = -1, slow = 0;
    std::uint32_t walked = 0, counted = 0;
    for (std::uint32_t look = 1;; ++look) {
        const std::uint32_t laps = look <= kShortLooks ? kShortLook : kLongLook;
        const auto slow_by_lap = watch(offsets, watched, laps, many);
        std::uint32_t clean = 0;
        for (const auto count : slow_by_lap) {
            ++walked;
            clean = count == 0 ? clean + 1 : 0;
            if (clean < clean_laps) continue;
            if (watched > 1) settling_ = std::max(settling_, std::min<std::uint32_t>(2 * walked, kMostSettling));
            return true;
        }
        for (std::size_t lap = slow_by_lap.size() / 2; lap < slow_by_lap.size(); ++lap, ++counted)
            slow += static_cast<double>(slow_by_lap[lap]);
        if (!std::has_single_bit(look)) continue;
        const double now = std::max(0.25, slow / std::max(1U, counted) - expected);
        const double late = patience == Patience::usual ? now : 1 / kLate;
        const double needed =
            kShortLook + std::max(kRandomSettling * static_cast<double>(watched), kSlowSettling) / now / late;
        const bool falling = before >= 0 && now < kFalling * before && walked * offsets.size() < kMostPatience / 4;
        if ((walked >= needed && !falling) || walked * offsets.size() > kMostPatience) return false;
        before = now;
        slow = counted = 0;
    }
}

std::pair<Offsets, std::vector<std::size_t>> Probe::in_orders(const Offsets& offsets, std::uint32_t rounds) {
    const std::uint64_t words = std::max<std::uint64_t>(1, piece_ / question_.word / visits_);
    const auto orders = static_cast<std::uint32_t>(std::min<std::uint64_t>({words, kMostOrders, rounds}));
    std::vector<std::size_t> order(offsets.size()), visited;
    std::iota(order.begin(), order.end(), std::size_t{0});
    Offsets tour;
    for (std::uint32_t word = 0; word < orders; ++word) {
        std::shuffle(order.begin(), order.end(), random_);
        for (const auto i : order) tour.push_back(offsets[i] + word * visits_ * question_.word);
        visited.insert(visited.end(), order.begin(), order.end());
    }
    return {std::move(tour), std::move(visited)};
}

std::vector<std::size_t> Probe::watch(const Offsets& offsets, std::size_t watched, std::uint32_t rounds,
                                      bool beside_accidents) {
    const auto [tour, visited] = in_orders(offsets, rounds);
    const auto orders = static_cast<std::uint32_t>(tour.size() / offsets.size());
    const auto missed =
        beside_accidents ? misses_beside_accidents(tour, 0, rounds / orders) : misses(tour, 0, rounds / orders);
    std::vector<std::size_t> slow(missed.size() / offsets.size(), 0);
    for (std::size_t i = 0; i < missed.size(); ++i)
        if (missed[i] && visited[i % tour.size()] < watched) ++slow[i / offsets.size()];
    return slow;
}

std::vector<double> Probe::miss_rates_in_any_order(const Offsets& offsets, std::uint32_t warm, std::uint32_t laps) {
    const auto [tour, visited] = in_orders(offsets, laps);
    const auto orders = static_cast<std::uint32_t>(tour.size() / offsets.size());
    const std::uint32_t rounds = laps / orders;
    const auto missed = misses_beside_accidents(tour, (warm + orders - 1) / orders, rounds);
    std::vector<double> rates(offsets.size(), 0.0);
    for (std::size_t i = 0; i < missed.size(); ++i)
        if (missed[i]) rates[visited[i % tour.size()]] += 1.0 / (rounds * orders);
    return rates;
}

bool Probe::long_tour_fits(const Offsets& offsets) {
    const auto affordable = 2 * question_.max_pass_loads / offsets.size();
    const auto laps = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(affordable, 6, 64));
    for (int look = 0;; ++look) {
        const auto rates =
            miss_rates_in_any_order(offsets, std::max(2U, look == 0 ? std::min(laps, settling_) : laps), laps);
        const double total = std::accumulate(rates.begin(), rates.end(), 0.0) * laps;
        const double accidental = accidents_like_misses(),
                     expected = accidental * laps * static_cast<double>(offsets.size());
        const double most = *std::max_element(rates.begin(), rates.end()) * laps;
        const bool stays = total < expected + laps / 2.0 + kSigmas * std::sqrt(expected) &&
                           most < least_count(accidental, laps, offsets.size());
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
    std::size_t lines = 0;
    for (const auto& group : groups) lines += group.size();
    const std::uint64_t words = std::max<std::uint64_t>(1, piece_ / question_.word / visits_);
    std::vector<bool> fit(groups.size(), false);
    for (std::uint32_t order = 0; order < kOrders && std::ranges::find(fit, false) != fit.end(); ++order) {
        const auto warm =
            static_cast<std::uint32_t>(std::min<std::uint64_t>(settling_ / kOrders, kMostGroupWarm / lines));
        // What takes many laps may take as many orders.
        const auto inner = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(warm, 1, std::min(kMostOrders, words)));
        Offsets tour;
        for (std::uint32_t word = 0; word < inner; ++word)
            for (auto& group : groups) {
                std::shuffle(group.begin(), group.end(), random_);
                for (const auto offset : group) tour.push_back(offset ^ (word * visits_ * question_.word));
            }
        const auto missed = misses(tour, warm / inner, std::max(1U, laps / inner));
        for (std::size_t at = 0, g = 0; at < missed.size(); g = (g + 1) % groups.size()) {
            const std::size_t end = at + groups[g].size();
            bool slow = false;
            for (; at < end; ++at) slow = slow || missed[at];
            fit[g] = fit[g] || !slow;
        }
    }
    return fit;
}

}  // namespace gputomo::deduce::cache
