#include "deduce/cache/equal_sets.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <utility>

namespace gputomo::deduce::cache {
namespace {

/// Passes recorded where a few misses among many loads decide. Short sequences get more: lines that compete for a set
/// under a random policy miss only now and then.
constexpr std::uint64_t kMinPasses = 5, kMaxPasses = 40;
/// If misses fall below this share of those before, lines are still becoming resident.
constexpr double kFalling = 0.8;
/// Passes after which an array that fits is resident, even under a random policy.
constexpr std::uint64_t kSettlingPasses = 16;
/// Sequences of at most 160 loads are repeated 300 times before they count, since a random policy finds the last free
/// way late. Longer sequences would take too many loads for that.
constexpr std::uint64_t kShortSequence = 160, kShortSequencePasses = 300;
/// Loads spent to see whether lines stay resident, as a multiple of the loads of the longest pass.
constexpr std::uint64_t kConfirmingPasses = 16;
/// Lines tried at one distance, to find a set by its conflicts. Sets with more ways are not found that way.
constexpr std::uint64_t kMaxConflicting = 96;
/// For arrays of more loads than this, conflicting lines are searched first: that takes far fewer loads than a
/// bisection of the size.
constexpr std::uint64_t kManyLoads = 4096;
/// One part in four of the remaining loads may be spent on that search. If it fails, the rest must do for the array's
/// size.
constexpr std::uint64_t kDistanceShare = 4;
/// Most sectors of a line where all lines are one set. Longer lines would be taken for that size.
constexpr std::uint64_t kMaxSectors = 8;
/// Two counts of the lines of a large set may differ by this share: under a random policy the last lines are hard to
/// see.
constexpr double kCountTolerance = 0.02;
/// Readings that the outlier rate was measured from (chase_session.cpp).
constexpr double kRateReadings = 16384;
/// In a fully associative cache, 99% of the lines are resident wherever they lie. If the address chose one of several
/// sets, one of them would overflow in nearly every draw.
constexpr double kScattered = 0.99;
constexpr int kScatteredDraws = 3;
/// Fewer lines than this may be spread evenly over several sets at random.
constexpr std::uint64_t kMinScattered = 64;
/// Assumed outlier rate: the larger of 2% and 1.5 times the measured one. A smaller one would take outliers for
/// misses, a larger one overlook lines that miss rarely.
constexpr double kMinOutlierRate = 0.02, kTimesMeasured = 1.5;
/// Lines count as missing above a threshold that outliers exceed in fewer than one of twenty sequences.
constexpr double kFalseAlarms = 0.05;
/// Where there are outliers, a miss share is taken from at least 512 readings, in at most 16 passes. Among a few dozen
/// readings, two or three may be slow at random.
constexpr std::uint64_t kShareReadings = 512, kMaxSharePasses = 16;
/// Share of loads that may be slow besides outliers (other clients, DRAM refresh). If more are slow, the array misses
/// without a closer look.
constexpr double kFewSlow = 0.05;

class EqualSetsSearch {
public:
    EqualSetsSearch(const Probe& probe, std::uint64_t piece) : probe_(probe), q_(probe.question()), sector_(piece) {}

    EqualSetsResult run() {
        const bool many = q_.overflows / step() > kManyLoads;
        try {
            static_cast<void>((many && find_cheaply_by_distance()) || (find_capacity() && find_sets()) ||
                              (!many && find_sets_by_distance()) || (fitted_ > 0 && find_one_set()));
        } catch (const BudgetExhausted& exception) {
            remark(exception.what());
        }
        found_.capacity = {fitted_, overflowed_, overflow_};
        return std::move(found_);
    }

private:
    [[nodiscard]] std::uint64_t step() const { return std::max(sector_, q_.probe_stride); }

    /// Loads that miss more often than outliers explain: less than one false alarm is expected in twenty sequences.
    Offsets persistent_misses(const Offsets& offsets) {
        if (offsets.empty()) return {};
        const std::uint64_t affordable = 2 * q_.max_pass_loads / offsets.size();
        const auto passes = static_cast<std::uint32_t>(std::clamp(affordable, kMinPasses, kMaxPasses));
        const std::uint64_t most_warm = offsets.size() <= kShortSequence ? kShortSequencePasses : kSettlingPasses;
        const auto rates = probe_.miss_rates(
            offsets, static_cast<std::uint32_t>(std::clamp<std::uint64_t>(affordable, 2, most_warm)), passes);
        const double outlier_rate = std::max(kMinOutlierRate, kTimesMeasured * probe_.outlier_rate());
        const double least = (significant_count(outlier_rate, passes, offsets.size(), kFalseAlarms) - 0.5) / passes;
        Offsets missing;
        for (std::size_t i = 0; i < offsets.size(); ++i)
            if (rates[i] > least) missing.push_back(offsets[i]);
        return missing;
    }

    bool fits(std::uint64_t bytes) {
        const auto offsets = strided(bytes, step());
        const double outlier_rate = probe_.outlier_rate(), most = kFewSlow + outlier_rate;
        const auto passes = outlier_rate > 0 ? static_cast<std::uint32_t>(std::clamp<std::uint64_t>(
                                                   kShareReadings / offsets.size(), 1, kMaxSharePasses))
                                             : 1;
        // A cold cache may take more than one pass to fill where replacement is not LRU. Where misses do not become
        // fewer, more passes do not help.
        double before = 1, share = miss_share(offsets, 1, passes);
        for (std::uint32_t warm = 2; share > most && warm <= kSettlingPasses; warm *= 2) {
            if (warm > 2 && share > kFalling * before) return false;
            before = std::exchange(share, miss_share(offsets, warm, passes));
        }
        if (share > most) return false;
        // Misses come by whole sets, so at least two lines miss. Under a random policy they are spread thinly over
        // many lines.
        return persistent_misses(offsets).size() < 2 && resident(offsets);
    }

    /// Lines that fit are usually resident soon. Among long arrays, only the one that is a step too large is observed
    /// for long.
    bool find_capacity() {
        const std::uint64_t low = q_.fits / step(), high = (q_.overflows + step() - 1) / step();
        fitted_ = low * step(), overflowed_ = q_.overflows;
        if (high > q_.max_pass_loads)
            return remark(fmt::format(
                "arrays that overflow take up to {} loads in a pass; only up to {} are measured to the line", high,
                q_.max_pass_loads));
        patient_ = high <= kManyLoads;
        bool found = bisect_capacity(low, high);
        if (!std::exchange(patient_, true)) {
            const std::uint64_t next = fitted_ + step();
            if (!found)
                found = bisect_capacity(low, high);
            else if (fits(next))
                found = bisect_capacity(next / step(), std::max(high, next / step() + 1));
        }
        if (!found) return remark("no contiguous array was read without misses, whatever its size");
        overflow_ = fitted_ + step();
        return true;
    }

    /// Bisects between `low` steps, which fit, and `high` steps, which do not, as far as is known. Whether any array
    /// fits.
    bool bisect_capacity(std::uint64_t low, std::uint64_t high) {
        const auto known = [&](std::uint64_t fit, std::uint64_t overflow) {
            fitted_ = fit * step(), overflowed_ = std::max(overflow * step(), q_.overflows);
        };
        known(low, high);
        // The bracket comes from a coarse sweep, which may have touched only some of the sets.
        while (low > 0 && !fits(low * step())) {
            high = low;
            low /= 2;
            known(low, high);
        }
        while (high * step() * 2 <= q_.buffer_bytes && fits(high * step())) {
            low = high;
            high *= 2;
            known(low, high);
        }
        while (low > 0 && high - low > 1) {
            const std::uint64_t middle = low + (high - low) / 2;
            (fits(middle * step()) ? low : high) = middle;
            known(low, high);
        }
        return low > 0;
    }

    struct Set {
        std::uint64_t way = 0, ways = 0;  ///< `ways` lines that are `way` bytes apart fill the set
    };

    bool remark(std::string text) {
        found_.why = std::move(text);
        return false;
    }

    /// Enlarges the largest array that fits by one step, and finds the set from the loads that miss then.
    bool find_sets() {
        const auto sequence = strided(fitted_ + step(), step());
        const auto missing = persistent_misses(sequence);
        const bool one_set = missing.size() + 1 >= sequence.size();
        const Set single = one_set ? single_set() : Set{};
        const std::uint64_t way = one_set ? single.way : common_distance(missing);
        if (way == 0)
            return remark(
                "the loads that miss beyond the capacity show no common distance, so that they are not one set");
        // An entry that something else holds, such as a page of code or of results, makes one set overflow too early.
        const std::uint64_t capacity = !one_set && (fitted_ + step()) % way == 0 ? fitted_ + step() : fitted_;
        if (!one_set && capacity % way != 0)
            return remark(
                fmt::format("{} loads miss together beyond the capacity, and their distance does not divide it: sets "
                            "are unequal or hashed",
                            missing.size()));
        const std::uint64_t ways = one_set ? single.ways : capacity / way;
        if (!verify_ways(way, ways))
            return remark(fmt::format("{} lines {} bytes apart do not overflow as lines of one set of {} ways should",
                                      ways + 1, way, ways));
        const std::uint64_t line = one_set ? line_of(single) : find_line(way, ways);
        if (one_set && !scattered_lines_resident(line, ways))
            return remark(
                "lines at random places overflow before the capacity is reached: the set is a hash of the address");
        if (!one_set && (line >= way || way % line != 0))
            return remark("no line size explains which lines miss together");
        return decide(way, ways, line, one_set);
    }

    bool decide(std::uint64_t way, std::uint64_t ways, std::uint64_t line, bool one_set) {
        found_.sets = EqualSets{one_set ? 1 : way / line, ways, line};
        return true;
    }

    /// One set with a random policy: a line too many does not evict all others, so that the overflow does not show it.
    bool find_one_set() {
        // Below an upper level, lines closer than that level's line show nothing.
        if (probe_.filtered() || fitted_ / step() * kShortSequencePasses > kConfirmingPasses * q_.max_pass_loads)
            return false;
        const Set single = single_set();
        if (single.way == 0 || single.ways < kMinScattered || !scattered_lines_resident(line_of(single), single.ways))
            return false;
        return decide(single.way, single.ways, line_of(single), true);
    }

    /// Whether nearly as many lines as there are ways are resident at random places.
    bool scattered_lines_resident(std::uint64_t line, std::uint64_t ways) {
        const std::uint64_t places = std::min(q_.buffer_bytes, 16 * fitted_) / line;
        const auto count = static_cast<std::size_t>(kScattered * static_cast<double>(ways));
        std::vector<std::uint64_t> numbers(places);
        std::iota(numbers.begin(), numbers.end(), std::uint64_t{0});
        for (int draw = 0; draw < kScatteredDraws; ++draw) {
            std::shuffle(numbers.begin(), numbers.end(), probe_.random());
            Offsets offsets;
            for (std::size_t i = 0; i < std::min<std::size_t>(count, numbers.size()); ++i)
                offsets.push_back(numbers[i] * line);
            if (!resident(offsets)) return false;
        }
        return true;
    }

    /// Number of lines `distance` apart that are resident together, at most `most`.
    std::uint64_t resident_lines(std::uint64_t distance, std::uint64_t most) {
        most = std::min(most, q_.buffer_bytes / distance);
        if (most == 0) return 0;
        std::uint64_t low = 1, high = 2;
        while (high <= most && resident(spaced(distance, high))) low = high, high *= 2;
        high = std::min(high, most + 1);
        while (high - low > 1) {
            const std::uint64_t middle = low + (high - low) / 2;
            (resident(spaced(distance, middle)) ? low : high) = middle;
        }
        return low;
    }
    /// One line too many makes its set miss once a pass, but under a random policy each single line misses rarely.
    bool resident(const Offsets& offsets) {
        if (offsets.empty()) return true;
        const double outlier_rate = probe_.outlier_rate();
        const auto passes =
            static_cast<std::uint32_t>(std::clamp<std::uint64_t>(q_.max_pass_loads / offsets.size(), 2, 32));
        const auto longest = static_cast<std::uint32_t>(
            std::clamp<std::uint64_t>(kConfirmingPasses * q_.max_pass_loads / offsets.size(), 4, kShortSequencePasses));
        // Lines that fit have a try without many outliers; one line too many misses in every try. The first try is
        // short, because most lines that fit are resident soon.
        const double margin = 3 * std::sqrt(outlier_rate / kRateReadings);
        const auto few = static_cast<std::uint32_t>(std::min<std::uint64_t>(longest, kSettlingPasses));
        for (const std::uint32_t warm : {few, patient_ ? longest : few, few})
            if (miss_share(offsets, warm, passes) - outlier_rate <= 0.5 / static_cast<double>(offsets.size()) + margin)
                return true;
        return false;
    }

    /// Lines conflict if they are a multiple of the way size apart, whatever the capacity is. The distance is halved
    /// from one that surely is such a multiple; below the way size, the number of resident lines doubles. If the
    /// number of sets has an odd factor, lines a power of two apart spread over that many sets.
    std::optional<Set> find_conflicting_lines() {
        std::uint64_t distance = std::bit_ceil(q_.overflows);
        while (distance > step() && (kMaxConflicting + 2) * distance > q_.buffer_bytes) distance /= 2;
        std::uint64_t ways = resident_lines(distance, kMaxConflicting);
        for (int plateau = 1; distance / 2 >= step() && ways < kMaxConflicting; ++plateau) {
            const std::uint64_t nearer = resident_lines(distance / 2, kMaxConflicting);
            if (nearer == ways) {
                distance /= 2;
                continue;
            }
            if (plateau > 1 && nearer >= std::min(2 * ways, kMaxConflicting))
                return without_odd_factor({distance, ways});
            // At larger distances something other than this cache runs out, such as a TLB.
            distance /= 2;
            ways = nearer;
            plateau = 0;
        }
        return std::nullopt;
    }
    Set without_odd_factor(Set set) {
        for (std::uint64_t odd = 3; odd <= set.ways; odd += 2) {
            if (set.ways % odd != 0 || (set.ways / odd + 2) * set.way * odd > q_.buffer_bytes) continue;
            if (resident_lines(set.way * odd, set.ways / odd + 1) == set.ways / odd)
                return {set.way * odd, set.ways / odd};
        }
        return set;
    }

    /// Uses a part of the loads: hashed lines never conflict at any distance, and the array's size has to be found
    /// even then.
    bool find_cheaply_by_distance() {
        const LoadBudget budget(probe_, probe_.loads_left() / kDistanceShare);
        try {
            return find_sets_by_distance();
        } catch (const BudgetExhausted& exception) {
            return remark(exception.what());
        }
    }

    bool find_sets_by_distance() {
        const auto set = find_conflicting_lines();
        if (!set)
            return remark(
                "lines powers of two apart do not conflict: the set is a hash of the address, or there is one set or "
                "an "
                "odd number of sets");
        const std::uint64_t capacity = set->ways * set->way;
        if (2 * capacity > q_.buffer_bytes || (set->ways + 2) * set->way > q_.buffer_bytes)
            return remark("lines conflict only at distances too large for the buffer to verify");
        const auto share = [&](std::uint64_t bytes) { return miss_share(strided(bytes, step()), kSettlingPasses, 1); };
        if (share(capacity / 4 * 3) > kFewSlow || share(capacity / 2 * 3) <= kFewSlow)
            return remark(
                fmt::format("{} lines {} bytes apart conflict, but an array of {} bytes, the sets' size, is not the "
                            "largest that fits",
                            set->ways + 1, set->way, capacity));
        const std::uint64_t line = find_line(set->way, set->ways);
        if (line >= set->way || set->way % line != 0) return remark("no line size explains which lines conflict");
        return decide(set->way, set->ways, line, false);
    }

    /// Everything misses: lines at any distance are one set. One line is enough as a distance, and it is a few
    /// sectors; at a larger one a TLB would run out first.
    Set single_set() {
        std::uint64_t distance = kMaxSectors * sector_;
        while (distance > sector_ && (fitted_ / sector_ + 1) * distance > q_.buffer_bytes) distance /= 2;
        const auto apart = static_cast<double>(resident_lines(distance, fitted_ / sector_ + 1));
        for (std::uint64_t line = distance; line >= sector_; line /= 2) {
            const std::uint64_t ways = fitted_ / line;
            if (std::abs(apart - static_cast<double>(ways)) <= kCountTolerance * apart) return {distance, ways};
        }
        return {};
    }

    /// Line size of a cache with one set: the power of two of sectors at which the capacity has the set's number of
    /// lines.
    [[nodiscard]] std::uint64_t line_of(const Set& single) const {
        std::uint64_t line = kMaxSectors * sector_;
        while (line > sector_ && fitted_ / line != single.ways) line /= 2;
        return line;
    }

    /// Greatest common distance of the lines that miss. A line may miss in several neighbouring sectors.
    [[nodiscard]] std::uint64_t common_distance(const Offsets& missing) const {
        std::uint64_t common = 0, start = 0;
        for (std::size_t i = 0; i < missing.size(); ++i) {
            const bool begins = i == 0 || missing[i] != missing[i - 1] + step();
            if (!begins) continue;
            if (i > 0) common = std::gcd(common, missing[i] - start);
            start = missing[i];
        }
        return common;
    }

    [[nodiscard]] Offsets spaced(std::uint64_t distance, std::uint64_t count, std::uint64_t shift = 0) const {
        Offsets offsets;
        for (std::uint64_t i = 0; i < count; ++i) offsets.push_back(i * distance + (i % 2 != 0 ? shift : 0));
        return offsets;
    }

    /// Whether `ways` lines, each a way size apart, are resident and one more is not.
    bool verify_ways(std::uint64_t way, std::uint64_t ways) {
        if (ways == 0 || (ways + 2) * way > q_.buffer_bytes) return false;
        if (!resident(spaced(way, ways)) || !overflows(spaced(way, ways + 1))) return false;
        // Lines elsewhere overflow too, unless the set is a hash of the address.
        for (const std::uint64_t elsewhere :
             {3 * way / 8 / step() * step(), (ways + 3) * way + 5 * way / 8 / step() * step()}) {
            auto moved = spaced(way, ways + 1);
            for (auto& offset : moved) offset += elsewhere;
            if (moved.back() < q_.buffer_bytes && !overflows(moved)) return false;
        }
        return true;
    }
    double miss_share(const Offsets& offsets, std::uint32_t warm = 4, std::uint32_t passes = 32) {
        const auto rates = probe_.miss_rates(offsets, warm, passes);
        return std::accumulate(rates.begin(), rates.end(), 0.0) / static_cast<double>(rates.size());
    }
    /// Lines that do not fit miss at least once a pass under any policy. The outlier rate is known by then.
    bool overflows(const Offsets& offsets) {
        return miss_share(offsets) - probe_.outlier_rate() > 0.5 / static_cast<double>(offsets.size());
    }

    /// Every second of ways + 1 lines of one set is shifted. They stay in one set until the shift reaches the line
    /// size.
    std::uint64_t find_line(std::uint64_t way, std::uint64_t ways) {
        const std::uint64_t count = ways + 1 + (ways + 1) % 2;
        for (std::uint64_t line = q_.probe_stride > q_.word ? q_.word : sector_; line < way; line *= 2)
            if (!overflows(spaced(way, count, line))) return line;
        return way;
    }

    const Probe& probe_;
    const CacheQuestion& q_;
    std::uint64_t sector_;          ///< bytes that one miss fills
    std::uint64_t fitted_ = 0;      ///< bytes; largest array that fits
    std::uint64_t overflow_ = 0;    ///< bytes; the array one step larger, which overflows
    std::uint64_t overflowed_ = 0;  ///< bytes; smallest array that overflows
    bool patient_ = true;           ///< whether lines that are not resident soon may become so late
    EqualSetsResult found_;
};

}  // namespace

EqualSetsResult find_equal_sets(const Probe& probe, std::uint64_t piece) { return EqualSetsSearch(probe, piece).run(); }

}  // namespace gputomo::deduce::cache
