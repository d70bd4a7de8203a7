#include "deduce/cache/arrays/residency.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace gputomo::deduce::cache {
namespace {

/// Passes recorded where a few misses among many loads decide. Short sequences get more: lines that compete for a set
/// under a random policy miss only now and then.
constexpr std::uint64_t kMinPasses = 5, kMaxPasses = 40;
/// If misses fall below this share of those before, lines are still becoming resident.
constexpr double kFillingShare = 0.8;
/// Readings that the outlier rate was measured from (chase_session.cpp).
constexpr double kRateReadings = 16384;
/// Assumed outlier rate: the larger of 2% and 1.5 times the measured one. A smaller one would take outliers for
/// misses, a larger one overlook lines that miss rarely.
constexpr double kLeastAssumedRate = 0.02, kTimesMeasured = 1.5;
/// Lines count as missing above a threshold that outliers exceed in fewer than one of twenty sequences.
constexpr double kFalseAlarms = 0.05;
/// Where there are outliers, a miss share is taken from at least 512 readings, in at most 16 passes. Among a few dozen
/// readings, two or three may be slow at random.
constexpr std::uint64_t kShareReadings = 512, kMaxSharePasses = 16;

}  // namespace

Offsets Residency::persistent_misses(const Offsets& offsets) const {
    if (offsets.empty()) return {};
    const std::uint64_t affordable = 2 * probe_.question().max_pass_loads / offsets.size();
    const auto passes = static_cast<std::uint32_t>(std::clamp(affordable, kMinPasses, kMaxPasses));
    const std::uint64_t most_warm = offsets.size() <= kShortSequence ? kShortSequencePasses : kSettlingPasses;
    const auto rates = probe_.miss_rates(
        offsets, static_cast<std::uint32_t>(std::clamp<std::uint64_t>(affordable, 2, most_warm)), passes);
    const double outlier_rate = std::max(kLeastAssumedRate, kTimesMeasured * probe_.outlier_rate());
    const double least = (significant_count(outlier_rate, passes, offsets.size(), kFalseAlarms) - 0.5) / passes;
    Offsets missing;
    for (std::size_t i = 0; i < offsets.size(); ++i)
        if (rates[i] > least) missing.push_back(offsets[i]);
    return missing;
}

bool Residency::array_fits(std::uint64_t bytes) const {
    const auto offsets = strided(bytes, step_);
    const double outlier_rate = probe_.outlier_rate(), most = kFewSlow + outlier_rate;
    const auto passes =
        outlier_rate > 0
            ? static_cast<std::uint32_t>(std::clamp<std::uint64_t>(kShareReadings / offsets.size(), 1, kMaxSharePasses))
            : 1;
    // A cold cache may take more than one pass to fill where replacement is not LRU. Where misses do not become
    // fewer, more passes do not help.
    double before = 1, share = miss_share(offsets, 1, passes);
    for (std::uint32_t warm = 2; share > most && warm <= kSettlingPasses; warm *= 2) {
        if (warm > 2 && share > kFillingShare * before) return false;
        before = std::exchange(share, miss_share(offsets, warm, passes));
    }
    if (share > most) return false;
    // Misses come by whole sets, so at least two lines miss. Under a random policy they are spread thinly over
    // many lines.
    return persistent_misses(offsets).size() < 2 && resident(offsets);
}

bool Residency::resident(const Offsets& offsets) const {
    if (offsets.empty()) return true;
    const double outlier_rate = probe_.outlier_rate();
    const auto passes =
        static_cast<std::uint32_t>(std::clamp<std::uint64_t>(probe_.question().max_pass_loads / offsets.size(), 2, 32));
    const auto longest = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(
        kConfirmingPasses * probe_.question().max_pass_loads / offsets.size(), 4, kShortSequencePasses));
    // Lines that fit have a try without many outliers; one line too many misses in every try. The first try is short,
    // because most lines that fit are resident soon.
    const double margin = 3 * std::sqrt(outlier_rate / kRateReadings);
    const auto few = static_cast<std::uint32_t>(std::min<std::uint64_t>(longest, kSettlingPasses));
    for (const std::uint32_t warm : {few, patient_ ? longest : few, few})
        if (miss_share(offsets, warm, passes) - outlier_rate <= 0.5 / static_cast<double>(offsets.size()) + margin)
            return true;
    return false;
}

double Residency::miss_share(const Offsets& offsets, std::uint32_t warm, std::uint32_t passes) const {
    const auto rates = probe_.miss_rates(offsets, warm, passes);
    return std::accumulate(rates.begin(), rates.end(), 0.0) / static_cast<double>(rates.size());
}
bool Residency::overflows(const Offsets& offsets) const {
    return miss_share(offsets) - probe_.outlier_rate() > 0.5 / static_cast<double>(offsets.size());
}

}  // namespace gputomo::deduce::cache
