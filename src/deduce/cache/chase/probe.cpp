#include "deduce/cache/chase/probe.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <numeric>
#include <utility>

namespace gputomo::deduce::cache {
namespace {

/// fits() observes a sequence in looks of `kShortLook` passes, after `kShortLooks` of them in looks of `kLongLook`.
/// Each look takes new random orders. Shorter looks end sooner once lines fit; longer ones waste fewer loads on
/// changing the order.
constexpr std::uint32_t kShortLook = 8, kLongLook = 32, kShortLooks = 16;
/// Random orders of the lines in one sequence. More orders defeat more pseudo-LRU states and make the sequence longer.
constexpr std::uint64_t kMaxOrders = 8;
/// A sequence whose misses go on for this many loads does not fit. Fewer loads misjudge policies that settle late; more
/// cost time for each group that does not fit.
constexpr std::uint64_t kMaxObservedLoads = std::uint64_t{1} << 21;
/// Fewest passes with a miss each before lines are judged not to fit. Bimodal policies keep a line once in 32
/// fills, and the last lines of a set take several times that.
constexpr double kBimodalSettling = 160;
/// Passes for each line of a sequence. Under a random policy the last free way is found within that many, but for one
/// case in thousands.
constexpr double kRandomSettling = 8;
/// fits_eventually() waits this many times longer. A tree of 85 ways needs 41 random orders as a rule and 141 at worst;
/// ten lines miss in each of them.
constexpr double kLatePatience = 2;
/// If misses per pass fall below this share of those before, the sequence is still settling.
constexpr double kFalling = 0.8;
/// Misses per pass are taken to be at least this, which bounds the wait for a sequence that hardly ever misses.
constexpr double kMinMissesPerPass = 0.25;
/// Warm loads of groups_fit() in one order. Groups that settle later are tried again by the caller.
constexpr std::uint64_t kMaxGroupWarmLoads = std::uint64_t{1} << 16;
/// Random orders in which groups_fit() looks for a pass without a miss.
constexpr std::uint32_t kGroupOrders = 4;
/// Probability that groups_fit() sees no clean pass of a group that fits, in all its orders together.
constexpr double kGroupMisjudged = 1e-7;
/// If more outliers than this are expected in the passes that prove a fit, clean passes are too rare to wait for
/// (e^-2.5 is one in twelve).
constexpr double kMaxOutliersPerProof = 2.5;
/// Clean passes needed in addition where loads unlike misses are ignored: an outlier may mask a miss, but hardly in
/// each of several passes.
constexpr std::uint32_t kMorePasses = 2;
/// Passes of each of the three looks at a long sequence, as far as twice the loads of the longest pass allow.
constexpr std::uint64_t kMinLongPasses = 6, kMaxLongPasses = 64;
/// An array 1.5 times too large shows whether repeated loads matter. It has at most `kReuseLines` lines; the passes let
/// a bimodal policy settle before the misses of eight passes are counted.
constexpr std::uint64_t kReuseLines = 4096;
constexpr std::uint32_t kReuseWarm = 64, kReusePasses = 8;
/// Measuring whether repeated loads matter takes at most one in this many loads of the eviction-set search.
constexpr std::uint64_t kReuseShare = 8;
/// The array must miss at this rate, and the rate must rise by this much with repeated loads. Smaller values follow
/// outliers; larger ones overlook that only some sets behave so.
constexpr double kReuseMisses = 0.1, kReuseMatters = 0.1;
/// Passes of which a majority decides: three where there are no outliers, at most fifteen elsewhere.
constexpr std::uint32_t kMinMajorityPasses = 3, kMaxMajorityPasses = 15;
/// Standard deviations beyond which outliers do not explain a count. Fewer would reject sequences that fit: a deduction
/// makes thousands of such tests.
constexpr double kProbeSigmas = 5;
/// A smaller outlier rate than this is not believed: it is not known from 16384 readings.
constexpr double kMinOutlierRate = 1e-4;

}  // namespace

int significant_count(double outlier_rate, std::uint32_t passes, std::size_t loads, double share_of_sequences) {
    const double mean = std::max(kMinOutlierRate, outlier_rate) * passes;
    double term = std::exp(-mean), tail = 1 - term;
    int count = 1;
    while (tail * static_cast<double>(loads) > share_of_sequences && count < static_cast<int>(passes)) {
        term *= mean / count++;
        tail -= term;
    }
    return count;
}

Probe::Probe(const Chase& chase, const CacheQuestion& question)
    : session_(std::make_shared<ChaseSession>(chase, question)) {
    *this = within_aligned(question.buffer_bytes, question.buffer_bytes);
}

Probe Probe::within_aligned(std::uint64_t span, std::uint64_t search_span) const {
    Probe probe = *this;
    for (probe.span_ = std::bit_floor(span); probe.span_ > question().word; probe.span_ /= 2) {
        probe.origin_ = (probe.span_ - question().base % probe.span_) % probe.span_;
        if (probe.origin_ + probe.span_ <= question().buffer_bytes) break;
    }
    probe.search_span_ = std::min(search_span, probe.span_);
    return probe;
}

Probe Probe::over_whole_buffer() const {
    Probe probe = *this;
    probe.origin_ = 0;
    probe.span_ = probe.search_span_ = question().buffer_bytes;
    return probe;
}

Probe Probe::with_sector(std::uint64_t bytes) const {
    Probe probe = *this;
    probe.sector_ = bytes;
    return probe;
}

Probe Probe::with_repeated_loads_if_needed() const {
    Probe once = *this;
    once.visits_ = 1;
    if (filtered() || sector_ < 2 * question().word) return once;
    const std::uint64_t bytes = std::min(question().overflows + question().overflows / 2, question().buffer_bytes);
    std::uint64_t stride = sector_;
    while (bytes / stride > kReuseLines) stride *= 2;
    // Distant lines may spread over enough sets for all of them to be resident; nearer lines then show the misses.
    const std::uint64_t most = loads() + question().group_test_loads / kReuseShare;
    double misses_once = once.misses_per_load(bytes, stride);
    while (misses_once < kReuseMisses && stride > sector_ && loads() < most)
        misses_once = once.misses_per_load(bytes, stride /= 2);
    if (misses_once < kReuseMisses) return once;
    Probe twice = once;
    twice.visits_ = 2;
    return twice.misses_per_load(bytes, stride) < misses_once + kReuseMatters ? once : twice;
}

double Probe::misses_per_load(std::uint64_t bytes, std::uint64_t stride) const {
    const auto rates = miss_rates(strided(bytes, stride), kReuseWarm, kReusePasses);
    return std::accumulate(rates.begin(), rates.end(), 0.0) / static_cast<double>(rates.size());
}

void Probe::settle_longer() const {
    session_->set_settling_passes(std::min(2 * settling_passes(), ChaseSession::kMaxSettlingPasses));
}

ChaseTrace Probe::run_chase(const Offsets& offsets, std::uint32_t warm, std::uint32_t passes,
                            std::size_t visits) const {
    ChaseRequest request{{}, warm, passes};
    request.offsets.reserve(offsets.size() * visits);
    for (const auto offset : offsets)
        for (std::size_t i = 0; i < visits; ++i) request.offsets.push_back(origin_ + (offset ^ (i * question().word)));
    return session_->run(request, visits);
}

Probe::Recorded Probe::record(const Offsets& offsets, std::uint32_t warm, std::uint32_t passes) const {
    const auto trace = run_chase(offsets, warm, passes, 1);
    auto recorded = classified(trace, MissLatencies(trace.latencies, question().threshold));
    recorded.segment_loads =
        std::max<std::size_t>(1, trace.segment_loads == 0 ? trace.latencies.size() : trace.segment_loads);
    return recorded;
}

Probe::Recorded Probe::classified(const ChaseTrace& trace, const MissLatencies& miss_latencies) const {
    Recorded recorded{std::vector<bool>(trace.latencies.size()), std::vector<bool>(trace.latencies.size())};
    for (std::size_t i = 0; i < trace.latencies.size(); ++i) {
        recorded.missed[i] = trace.latencies[i] > question().threshold;
        recorded.outlier[i] = recorded.missed[i] && !miss_latencies.contains(trace.latencies[i]);
    }
    return recorded;
}

std::vector<bool> Probe::misses(const Offsets& offsets, std::uint32_t warm, std::uint32_t passes) const {
    const auto trace = run_chase(offsets, warm, passes, visits_);
    return std::move(classified(trace, session_->miss_latencies()).missed);
}

std::vector<bool> Probe::misses_without_outliers(const Offsets& offsets, std::uint32_t warm,
                                                 std::uint32_t passes) const {
    const auto trace = run_chase(offsets, warm, passes, visits_);
    auto recorded = classified(trace, session_->miss_latencies());
    const double expected = outlier_rate() * static_cast<double>(recorded.outlier.size());
    // The count varies, and so does the rate, which was measured from a limited number of outliers.
    const double variance =
        expected + expected * expected / static_cast<double>(std::max<std::size_t>(1, session_->outliers_seen()));
    const auto outliers = static_cast<double>(std::count(recorded.outlier.begin(), recorded.outlier.end(), true));
    // More than the outlier rate explains: these are misses of another latency than those seen before.
    if (outliers > expected + kProbeSigmas * std::sqrt(variance) + 2) return std::move(recorded.missed);
    for (std::size_t i = 0; i < recorded.outlier.size(); ++i)
        recorded.missed[i] = recorded.missed[i] && !recorded.outlier[i];
    return std::move(recorded.missed);
}

std::vector<double> Probe::miss_rates(const Offsets& offsets, std::uint32_t warm, std::uint32_t passes) const {
    std::vector<double> rates(offsets.size(), 0.0);
    const auto missed = misses(offsets, warm, passes);
    for (std::size_t i = 0; i < missed.size(); ++i)
        if (missed[i]) rates[i % offsets.size()] += 1.0 / passes;
    return rates;
}

std::uint32_t Probe::majority_passes(std::size_t loads) const {
    std::uint32_t passes = kMinMajorityPasses;
    while (passes < kMaxMajorityPasses &&
           2 * significant_count(outlier_rate(), passes, loads) > static_cast<int>(passes) + 1)
        passes += 2;
    return passes;
}

bool Probe::fits(const Offsets& offsets, std::size_t watched, std::uint32_t clean_passes, Patience patience) const {
    if (offsets.empty() || watched == 0) return true;
    double expected = outlier_rate() * static_cast<double>(watched);
    const bool many_outliers = expected * clean_passes > kMaxOutliersPerProof;
    if (many_outliers) {
        expected = miss_like_outlier_rate() * static_cast<double>(watched);
        clean_passes += kMorePasses;
        if (expected * clean_passes > kMaxOutliersPerProof) return long_sequence_fits(offsets);
    }
    double before = -1, slow = 0;
    std::uint32_t passes_run = 0, counted = 0;
    for (std::uint32_t look = 1;; ++look) {
        const auto slow_in =
            slow_by_round(offsets, watched, look <= kShortLooks ? kShortLook : kLongLook, many_outliers);
        std::uint32_t clean = 0;
        for (const auto count : slow_in) {
            ++passes_run;
            clean = count == 0 ? clean + 1 : 0;
            if (clean < clean_passes) continue;
            if (watched > 1)
                session_->set_settling_passes(std::max(
                    settling_passes(), std::min<std::uint32_t>(2 * passes_run, ChaseSession::kMaxSettlingPasses)));
            return true;
        }
        // The first half of a look still follows the new order.
        for (std::size_t round = slow_in.size() / 2; round < slow_in.size(); ++round, ++counted)
            slow += static_cast<double>(slow_in[round]);
        if (!std::has_single_bit(look)) continue;
        // The more lines miss in a pass, the sooner a free way would have been found.
        const double misses = std::max(kMinMissesPerPass, slow / std::max(1U, counted) - expected);
        const double speed = patience == Patience::usual ? misses : 1 / kLatePatience;
        const double needed =
            kShortLook + std::max(kRandomSettling * static_cast<double>(watched), kBimodalSettling) / misses / speed;
        const bool falling =
            before >= 0 && misses < kFalling * before && passes_run * offsets.size() < kMaxObservedLoads / 4;
        if ((passes_run >= needed && !falling) || passes_run * offsets.size() > kMaxObservedLoads) return false;
        before = misses;
        slow = counted = 0;
    }
}

std::uint64_t Probe::words_of_line() const { return std::max<std::uint64_t>(1, sector_ / question().word / visits_); }

std::pair<Offsets, std::vector<std::size_t>> Probe::in_orders(const Offsets& offsets, std::uint32_t rounds) const {
    const auto orders = static_cast<std::uint32_t>(std::min<std::uint64_t>({words_of_line(), kMaxOrders, rounds}));
    std::vector<std::size_t> order(offsets.size()), visited;
    std::iota(order.begin(), order.end(), std::size_t{0});
    Offsets sequence;
    for (std::uint32_t word = 0; word < orders; ++word) {
        std::shuffle(order.begin(), order.end(), random());
        for (const auto i : order) sequence.push_back(offsets[i] + word * visits_ * question().word);
        visited.insert(visited.end(), order.begin(), order.end());
    }
    return {std::move(sequence), std::move(visited)};
}

std::vector<std::size_t> Probe::slow_by_round(const Offsets& offsets, std::size_t watched, std::uint32_t rounds,
                                              bool without_outliers) const {
    const auto [sequence, visited] = in_orders(offsets, rounds);
    const auto orders = static_cast<std::uint32_t>(sequence.size() / offsets.size());
    const auto missed =
        without_outliers ? misses_without_outliers(sequence, 0, rounds / orders) : misses(sequence, 0, rounds / orders);
    std::vector<std::size_t> slow(missed.size() / offsets.size(), 0);
    for (std::size_t i = 0; i < missed.size(); ++i)
        if (missed[i] && visited[i % sequence.size()] < watched) ++slow[i / offsets.size()];
    return slow;
}

std::vector<double> Probe::miss_rates_in_random_orders(const Offsets& offsets, std::uint32_t warm,
                                                       std::uint32_t passes) const {
    const auto [sequence, visited] = in_orders(offsets, passes);
    const auto orders = static_cast<std::uint32_t>(sequence.size() / offsets.size());
    const std::uint32_t rounds = passes / orders;
    const auto missed = misses_without_outliers(sequence, (warm + orders - 1) / orders, rounds);
    std::vector<double> rates(offsets.size(), 0.0);
    for (std::size_t i = 0; i < missed.size(); ++i)
        if (missed[i]) rates[visited[i % sequence.size()]] += 1.0 / (rounds * orders);
    return rates;
}

bool Probe::long_sequence_fits(const Offsets& offsets) const {
    const auto affordable = 2 * question().max_pass_loads / offsets.size();
    const auto passes = static_cast<std::uint32_t>(std::clamp(affordable, kMinLongPasses, kMaxLongPasses));
    for (int look = 0;; ++look) {
        const auto warm = std::max(2U, look == 0 ? std::min(passes, settling_passes()) : passes);
        const auto rates = miss_rates_in_random_orders(offsets, warm, passes);
        const double total = std::accumulate(rates.begin(), rates.end(), 0.0) * passes;
        const double rate = miss_like_outlier_rate();
        const double expected = rate * passes * static_cast<double>(offsets.size());
        const double most = *std::max_element(rates.begin(), rates.end()) * passes;
        // A line too many would add a miss to each pass.
        const bool fits = total < expected + passes / 2.0 + kProbeSigmas * std::sqrt(expected) &&
                          most < significant_count(rate, passes, offsets.size());
        if (fits || look == 2) return fits;
    }
}

std::vector<bool> Probe::groups_fit(std::vector<Offsets> groups) const {
    std::size_t largest = 1, lines = 0;
    for (const auto& group : groups) largest = std::max(largest, group.size()), lines += group.size();
    const double clean = std::pow(1 - outlier_rate(), static_cast<double>(largest));
    const double wanted = std::log(kGroupMisjudged) / std::log(1 - std::min(0.999, clean));
    const auto passes = static_cast<std::uint32_t>(std::clamp(wanted / kGroupOrders, 2.0, 128.0));
    std::vector<bool> fit(groups.size(), false);
    for (std::uint32_t order = 0; order < kGroupOrders && std::ranges::find(fit, false) != fit.end(); ++order) {
        const auto warm = static_cast<std::uint32_t>(
            std::min<std::uint64_t>(settling_passes() / kGroupOrders, kMaxGroupWarmLoads / lines));
        // Groups that take many passes to settle may take as many different orders.
        const auto rounds =
            static_cast<std::uint32_t>(std::clamp<std::uint64_t>(warm, 1, std::min(kMaxOrders, words_of_line())));
        Offsets sequence;
        for (std::uint32_t word = 0; word < rounds; ++word)
            for (auto& group : groups) {
                std::shuffle(group.begin(), group.end(), random());
                for (const auto offset : group) sequence.push_back(offset ^ (word * visits_ * question().word));
            }
        const auto missed = misses(sequence, warm / rounds, std::max(1U, passes / rounds));
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
