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
constexpr std::uint64_t kMaxOrders = 8;
/// Loads after which a tour whose misses do not end is one that does not fit.
constexpr std::uint64_t kMaxPatience = std::uint64_t{1} << 21;
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
constexpr std::uint64_t kMaxGroupWarm = std::uint64_t{1} << 16;
/// With more accidents a lap than this, laps without a slow load are too rare to wait for.
constexpr double kMaxOutliersPerPass = 2.5;
/// And where accidents are told from misses, laps more than one or two without a miss that it takes.
constexpr std::uint32_t kPassesMore = 2;
/// Slow loads from which it is seen how long misses take; and the share of a tour's that they are at least.
constexpr std::ptrdiff_t kManyMisses = 256;
/// Loads of a small array, which tell how many readings are slow by accident.
constexpr std::uint64_t kQuietLines = 8, kQuietReadings = 16384;
/// Share of readings that may be slow by accident, at worst.
constexpr double kMaxOutlierRate = 0.05;
/// Lines of an array that overflows, and laps through them, that show whether it matters that a line is used again at
/// once: the share of misses there must be, and the share by which they become more.
constexpr std::uint64_t kReuseLines = 4096;
constexpr std::uint32_t kReuseWarm = 64, kReusePasses = 8;
/// Part of the loads for group tests after which it is not asked any longer.
constexpr std::uint64_t kReuseShare = 8;
constexpr double kReuseMisses = 0.1, kReuseMatters = 0.1;
/// Laps of which a majority decides.
constexpr std::uint32_t kMinDeciding = 3, kMaxDeciding = 15;
/// Standard deviations beyond which a count is no accident.
constexpr double kSigmas = 5;

}  // namespace

int significant_count(double outlier_rate, std::uint32_t passes, std::size_t loads, double share_of_sequences) {
    const double mean = std::max(1e-4, outlier_rate) * passes;
    double term = std::exp(-mean), tail = 1 - term;
    int count = 1;
    while (tail * static_cast<double>(loads) > share_of_sequences && count < static_cast<int>(passes)) {
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

ChaseTrace Probe::run_chase(const Offsets& offsets, std::uint32_t warm, std::uint32_t passes, std::size_t visits) {
    const std::uint64_t loads = offsets.size() * visits * (std::uint64_t{warm} + passes);
    if (loads > loads_left()) throw BudgetExhausted();
    ChaseRequest request{{}, warm, passes};
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
        miss_latencies_ = MissLatencies(trace.latencies, question_.threshold);
    }
    return trace;
}

Probe::Recorded Probe::record(const Offsets& offsets, std::uint32_t warm, std::uint32_t passes) {
    const auto trace = run_chase(offsets, warm, passes, 1);
    auto recorded = sorted(trace, MissLatencies(trace.latencies, question_.threshold));
    recorded.segment_loads =
        std::max<std::size_t>(1, trace.segment_loads == 0 ? trace.latencies.size() : trace.segment_loads);
    return recorded;
}

Probe::Recorded Probe::sorted(const ChaseTrace& trace, const MissLatencies& miss_latencies) const {
    Recorded recorded{std::vector<bool>(trace.latencies.size()), std::vector<bool>(trace.latencies.size())};
    for (std::size_t i = 0; i < trace.latencies.size(); ++i) {
        recorded.missed[i] = trace.latencies[i] > question_.threshold;
        recorded.outlier[i] = recorded.missed[i] && !miss_latencies.contains(trace.latencies[i]);
    }
    return recorded;
}

std::vector<bool> Probe::misses(const Offsets& offsets, std::uint32_t warm, std::uint32_t passes) {
    return std::move(sorted(run_chase(offsets, warm, passes, visits_), miss_latencies_).missed);
}

std::vector<bool> Probe::misses_without_outliers(const Offsets& offsets, std::uint32_t warm, std::uint32_t passes) {
    const auto trace = run_chase(offsets, warm, passes, visits_);
    auto recorded = sorted(trace, miss_latencies_);
    const double expected = outlier_rate() * static_cast<double>(recorded.outlier.size());
    // Of the count, and of the rate, which is known from so many accidents.
    const double variance =
        expected + expected * expected / static_cast<double>(std::max<std::size_t>(1, slow_hits_.size()));
    const auto outlier = static_cast<double>(std::count(recorded.outlier.begin(), recorded.outlier.end(), true));
    // More of them than accidents explain: misses that take another time than those that were seen.
    if (outlier > expected + kSigmas * std::sqrt(variance) + 2) return std::move(recorded.missed);
    for (std::size_t i = 0; i < recorded.outlier.size(); ++i) recorded.missed[i] = recorded.missed[i] && !recorded.outlier[i];
    return std::move(recorded.missed);
}

std::vector<double> Probe::miss_rates(const Offsets& offsets, std::uint32_t warm, std::uint32_t passes) {
    std::vector<double> rates(offsets.size(), 0.0);
    const auto missed = misses(offsets, warm, passes);
    for (std::size_t i = 0; i < missed.size(); ++i)
        if (missed[i]) rates[i % offsets.size()] += 1.0 / passes;
    return rates;
}

void Probe::visit_twice_if_that_matters() {
    visits_ = 1;
    if (filtered() || piece_ < 2 * question_.word) return;
    const std::uint64_t bytes = std::min(question_.overflows + question_.overflows / 2, question_.buffer_bytes);
    const auto misses_of = [&](std::uint64_t step) {
        const auto rates = miss_rates(strided(bytes, step), kReuseWarm, kReusePasses);
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
    const auto trace = run_chase(strided(lines * question_.probe_stride, question_.probe_stride), 512,
                            static_cast<std::uint32_t>(kQuietReadings / lines), 1);
    hits_ = std::max<std::size_t>(1, trace.latencies.size());
    std::ranges::copy_if(trace.latencies, std::back_inserter(slow_hits_),
                         [this](double latency) { return latency > question_.threshold; });
}

double Probe::outlier_rate() {
    look_at_hits();
    return std::min(kMaxOutlierRate, static_cast<double>(slow_hits_.size()) / static_cast<double>(hits_));
}

double Probe::miss_like_outlier_rate() {
    look_at_hits();
    const auto alike = std::ranges::count_if(slow_hits_, [this](double latency) { return miss_latencies_.contains(latency); });
    return std::min(outlier_rate(), (static_cast<double>(alike) + 1) / static_cast<double>(hits_));
}

std::uint32_t Probe::majority_passes(std::size_t loads) {
    std::uint32_t passes = kMinDeciding;
    while (passes < kMaxDeciding && 2 * significant_count(outlier_rate(), passes, loads) > static_cast<int>(passes) + 1) passes += 2;
    return passes;
}

bool Probe::fits(const Offsets& offsets, std::size_t watched, std::uint32_t clean_passes, Patience patience) {
    if (offsets.empty() || watched == 0) return true;
    double expected = outlier_rate() * static_cast<double>(watched);
    const bool many = expected * clean_passes > kMaxOutliersPerPass;
    if (many) {
        // Only what is as slow as a miss counts. An accident may hide a miss, but hardly in each of several laps.
        expected = miss_like_outlier_rate() * static_cast<double>(watched);
        clean_passes += kPassesMore;
        if (expected * clean_passes > kMaxOutliersPerPass) return long_sequence_fits(offsets);
    }
    double before = -1, slow = 0;
    std::uint32_t passes_run = 0, counted = 0;
    for (std::uint32_t look = 1;; ++look) {
        const std::uint32_t passes = look <= kShortLooks ? kShortLook : kLongLook;
        const auto slow_by_pass = watch(offsets, watched, passes, many);
        std::uint32_t clean = 0;
        for (const auto count : slow_by_pass) {
            ++passes_run;
            clean = count == 0 ? clean + 1 : 0;
            if (clean < clean_passes) continue;
            if (watched > 1) settling_passes_ = std::max(settling_passes_, std::min<std::uint32_t>(2 * passes_run, kMaxSettlingPasses));
            return true;
        }
        for (std::size_t pass = slow_by_pass.size() / 2; pass < slow_by_pass.size(); ++pass, ++counted)
            slow += static_cast<double>(slow_by_pass[pass]);
        if (!std::has_single_bit(look)) continue;
        const double now = std::max(0.25, slow / std::max(1U, counted) - expected);
        const double late = patience == Patience::miss_latencies ? now : 1 / kLate;
        const double needed =
            kShortLook + std::max(kRandomSettling * static_cast<double>(watched), kSlowSettling) / now / late;
        const bool falling = before >= 0 && now < kFalling * before && passes_run * offsets.size() < kMaxPatience / 4;
        if ((passes_run >= needed && !falling) || passes_run * offsets.size() > kMaxPatience) return false;
        before = now;
        slow = counted = 0;
    }
}

std::pair<Offsets, std::vector<std::size_t>> Probe::in_orders(const Offsets& offsets, std::uint32_t rounds) {
    const std::uint64_t words = std::max<std::uint64_t>(1, piece_ / question_.word / visits_);
    const auto orders = static_cast<std::uint32_t>(std::min<std::uint64_t>({words, kMaxOrders, rounds}));
    std::vector<std::size_t> order(offsets.size()), visited;
    std::iota(order.begin(), order.end(), std::size_t{0});
    Offsets sequence;
    for (std::uint32_t word = 0; word < orders; ++word) {
        std::shuffle(order.begin(), order.end(), random_);
        for (const auto i : order) sequence.push_back(offsets[i] + word * visits_ * question_.word);
        visited.insert(visited.end(), order.begin(), order.end());
    }
    return {std::move(sequence), std::move(visited)};
}

std::vector<std::size_t> Probe::watch(const Offsets& offsets, std::size_t watched, std::uint32_t rounds,
                                      bool without_outliers) {
    const auto [sequence, visited] = in_orders(offsets, rounds);
    const auto orders = static_cast<std::uint32_t>(sequence.size() / offsets.size());
    const auto missed =
        without_outliers ? misses_without_outliers(sequence, 0, rounds / orders) : misses(sequence, 0, rounds / orders);
    std::vector<std::size_t> slow(missed.size() / offsets.size(), 0);
    for (std::size_t i = 0; i < missed.size(); ++i)
        if (missed[i] && visited[i % sequence.size()] < watched) ++slow[i / offsets.size()];
    return slow;
}

std::vector<double> Probe::miss_rates_in_random_orders(const Offsets& offsets, std::uint32_t warm, std::uint32_t passes) {
    const auto [sequence, visited] = in_orders(offsets, passes);
    const auto orders = static_cast<std::uint32_t>(sequence.size() / offsets.size());
    const std::uint32_t rounds = passes / orders;
    const auto missed = misses_without_outliers(sequence, (warm + orders - 1) / orders, rounds);
    std::vector<double> rates(offsets.size(), 0.0);
    for (std::size_t i = 0; i < missed.size(); ++i)
        if (missed[i]) rates[visited[i % sequence.size()]] += 1.0 / (rounds * orders);
    return rates;
}

bool Probe::long_sequence_fits(const Offsets& offsets) {
    const auto affordable = 2 * question_.max_pass_loads / offsets.size();
    const auto passes = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(affordable, 6, 64));
    for (int look = 0;; ++look) {
        const auto rates =
            miss_rates_in_random_orders(offsets, std::max(2U, look == 0 ? std::min(passes, settling_passes_) : passes), passes);
        const double total = std::accumulate(rates.begin(), rates.end(), 0.0) * passes;
        const double outlier_rate = miss_like_outlier_rate(),
                     expected = outlier_rate * passes * static_cast<double>(offsets.size());
        const double most = *std::max_element(rates.begin(), rates.end()) * passes;
        const bool stays = total < expected + passes / 2.0 + kSigmas * std::sqrt(expected) &&
                           most < significant_count(outlier_rate, passes, offsets.size());
        if (stays || look == 2) return stays;
    }
}

std::vector<bool> Probe::groups_fit(std::vector<Offsets> groups) {
    constexpr std::uint32_t kOrders = 4;
    std::size_t largest = 1;
    for (const auto& group : groups) largest = std::max(largest, group.size());
    // Of a group that fits, a lap without a slow load comes after this many but for one case in a million.
    const double clean = std::pow(1 - outlier_rate(), static_cast<double>(largest));
    const double wanted = std::log(1e-7) / std::log(1 - std::min(0.999, clean));
    const auto passes = static_cast<std::uint32_t>(std::clamp(wanted / kOrders, 2.0, 128.0));
    std::size_t lines = 0;
    for (const auto& group : groups) lines += group.size();
    const std::uint64_t words = std::max<std::uint64_t>(1, piece_ / question_.word / visits_);
    std::vector<bool> fit(groups.size(), false);
    for (std::uint32_t order = 0; order < kOrders && std::ranges::find(fit, false) != fit.end(); ++order) {
        const auto warm =
            static_cast<std::uint32_t>(std::min<std::uint64_t>(settling_passes_ / kOrders, kMaxGroupWarm / lines));
        // What takes many laps may take as many orders.
        const auto inner = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(warm, 1, std::min(kMaxOrders, words)));
        Offsets sequence;
        for (std::uint32_t word = 0; word < inner; ++word)
            for (auto& group : groups) {
                std::shuffle(group.begin(), group.end(), random_);
                for (const auto offset : group) sequence.push_back(offset ^ (word * visits_ * question_.word));
            }
        const auto missed = misses(sequence, warm / inner, std::max(1U, passes / inner));
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
