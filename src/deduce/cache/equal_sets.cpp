#include "deduce/cache/equal_sets.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <utility>

namespace gputomo::deduce::cache {
namespace {

/// Laps recorded where a few misses among many loads decide: more for short tours, since lines that compete for a set
/// under a random policy miss only now and then.
constexpr std::uint64_t kMinPasses = 5, kMaxPasses = 40;
/// Misses fell to less than this share: lines are still coming to stay.
constexpr double kFalling = 0.8;
/// Laps that even a random policy needs to settle on an array that fits.
constexpr std::uint64_t kSettlingPasses = 16;
/// Tours of at most so many loads are walked so often before they count: a random policy finds the last free way late.
constexpr std::uint64_t kShortSequence = 160, kShortSequencePasses = 300;
/// Loads, as multiples of those of the longest lap, that may be spent to see whether lines stay for good.
constexpr std::uint64_t kConfirmingPasses = 16;
/// Lines tried at one distance, to find a set by its collisions.
constexpr std::uint64_t kMaxColliding = 96;
/// Arrays of more loads are looked at by collisions first: that takes far fewer loads.
constexpr std::uint64_t kManyLoads = 4096;
/// Part of the loads that may be spent on that.
constexpr std::uint64_t kDistanceShare = 4;
/// Of a line.
constexpr std::uint64_t kMaxSectors = 8;
/// Share by which two counts of the lines of a large set may differ: with a random policy the last ones are hard to
/// see.
constexpr double kLinesOff = 0.02;
/// Readings that the share of accidents is known from.
constexpr double kQuietReadings = 16384;
/// Of a fully associative cache's lines, this share stays wherever the lines are; where they choose one of several
/// sets, one of the sets overflows in nearly every draw.
constexpr double kScattered = 0.99;
constexpr int kScatteredDraws = 3;
/// Fewer lines than this may lie well spread over several sets by chance.
constexpr std::uint64_t kMinScattered = 64;
/// Share of readings that may be slow by accident, at worst, and so many times as many as were counted where those are
/// more.
constexpr double kAccident = 0.02, kTimesCounted = 1.5;
/// Accidents look like misses in fewer than one tour in so many.
constexpr double kFalseAlarms = 0.05;
/// Readings of which a share of misses is taken where there are accidents: of a few dozen, two or three may be slow by
/// chance.
constexpr std::uint64_t kShareReadings = 512, kMaxSharePasses = 16;
/// Share of loads that may be slow by accident (other clients, refresh); more are misses without a closer look.
constexpr double kDisturbed = 0.05;

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

    /// Loads that miss more often than accidents explain (less than one such load expected in twenty tours).
    Offsets persistent_misses(const Offsets& offsets) {
        if (offsets.empty()) return {};
        const std::uint64_t affordable = 2 * q_.max_pass_loads / offsets.size();
        const auto passes = static_cast<std::uint32_t>(std::clamp(affordable, kMinPasses, kMaxPasses));
        const std::uint64_t most_warm = offsets.size() <= kShortSequence ? kShortSequencePasses : kSettlingPasses;
        const auto rates = probe_.miss_rates(
            offsets, static_cast<std::uint32_t>(std::clamp<std::uint64_t>(affordable, 2, most_warm)), passes);
        const double outlier_rate = std::max(kAccident, kTimesCounted * probe_.outlier_rate());
        const double least = (significant_count(outlier_rate, passes, offsets.size(), kFalseAlarms) - 0.5) / passes;
        Offsets missing;
        for (std::size_t i = 0; i < offsets.size(); ++i)
            if (rates[i] > least) missing.push_back(offsets[i]);
        return missing;
    }

    bool fits(std::uint64_t bytes) {
        const auto offsets = strided(bytes, step());
        const double disturbed = probe_.outlier_rate(), most = kDisturbed + disturbed;
        const auto passes = disturbed > 0 ? static_cast<std::uint32_t>(std::clamp<std::uint64_t>(
                                                kShareReadings / offsets.size(), 1, kMaxSharePasses))
                                          : 1;
        // A cold start may take more than one lap where replacement is not LRU; where misses do not become fewer, no
        // more laps help.
        double before = 1, share = miss_share(offsets, 1, passes);
        for (std::uint32_t warm = 2; share > most && warm <= kSettlingPasses; warm *= 2) {
            if (warm > 2 && share > kFalling * before) return false;
            before = std::exchange(share, miss_share(offsets, warm, passes));
        }
        if (share > most) return false;
        // Misses come by whole sets: two lines and more. With a random policy they are spread thin over many lines.
        return persistent_misses(offsets).size() < 2 && stay(offsets);
    }

    /// Lines that stay do so soon, as a rule: of long arrays only the one a step too large is looked at for long.
    bool find_capacity() {
        const std::uint64_t low = q_.fits / step(), high = (q_.overflows + step() - 1) / step();
        fitted_ = low * step(), overflowed_ = q_.overflows;
        if (high > q_.max_pass_loads) return remark("arrays of so many loads are not measured to the line");
        patient_ = high <= kManyLoads;
        bool found = bisect_capacity(low, high);
        if (!std::exchange(patient_, true)) {
            const std::uint64_t next = fitted_ + step();
            if (!found)
                found = bisect_capacity(low, high);
            else if (fits(next))
                found = bisect_capacity(next / step(), std::max(high, next / step() + 1));
        }
        if (!found) return remark("no array was served without misses");
        overflow_ = fitted_ + step();
        return true;
    }

    /// From the steps that are served, and those that are not, as far as is known. Whether any array is served.
    bool bisect_capacity(std::uint64_t low, std::uint64_t high) {
        const auto known = [&](std::uint64_t fit, std::uint64_t overflow) {
            fitted_ = fit * step(), overflowed_ = std::max(overflow * step(), q_.overflows);
        };
        known(low, high);
        // The bracket comes from a coarse walk, which may have touched only some of the sets.
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
        std::uint64_t way = 0, ways = 0;  ///< lines `way` bytes apart share it; so many of them stay
    };

    bool remark(std::string text) {
        found_.why = std::move(text);
        return false;
    }

    /// Adds one step to the fitted array and reads off which loads then miss.
    bool find_sets() {
        const auto sequence = strided(fitted_ + step(), step());
        const auto missing = persistent_misses(sequence);
        const bool one_set = missing.size() + 1 >= sequence.size();
        const Set lone = one_set ? lone_set() : Set{};
        const std::uint64_t way = one_set ? lone.way : common_distance(missing);
        if (way == 0) return remark("the overflow past the capacity did not show one set");
        // An entry that something else than the walk holds, such as a page of code or results, makes one set overflow
        // too early.
        const std::uint64_t capacity = !one_set && (fitted_ + step()) % way == 0 ? fitted_ + step() : fitted_;
        if (!one_set && capacity % way != 0)
            return remark(fmt::format(
                "{} loads overflow together, and their distance does not divide the capacity: unequal sets or a hash",
                missing.size()));
        const std::uint64_t ways = one_set ? lone.ways : capacity / way;
        if (!verify_ways(way, ways))
            return remark(
                fmt::format("{} lines {} bytes apart do not behave as one set of {} ways", ways + 1, way, ways));
        const std::uint64_t line = one_set ? line_of(lone) : find_line(way, ways);
        if (one_set && !scattered_lines_stay(line, ways))
            return remark(
                "lines at random places overflow before the capacity is reached: the set is a hash of the address");
        if (!one_set && (line >= way || way % line != 0))
            return remark("no line size explains which lines overflow together");
        return decide(way, ways, line, one_set);
    }

    bool decide(std::uint64_t way, std::uint64_t ways, std::uint64_t line, bool one_set) {
        found_.sets = EqualSets{one_set ? 1 : way / line, ways, line};
        return true;
    }

    /// One set with a random policy: a line too many does not push out all others, so that the overflow does not show
    /// it.
    bool find_one_set() {
        // Behind a nearer level, lines less than its own apart tell nothing.
        if (probe_.filtered() || fitted_ / step() * kShortSequencePasses > kConfirmingPasses * q_.max_pass_loads)
            return false;
        const Set lone = lone_set();
        if (lone.way == 0 || lone.ways < kMinScattered || !scattered_lines_stay(line_of(lone), lone.ways)) return false;
        return decide(lone.way, lone.ways, line_of(lone), true);
    }

    /// Whether nearly as many lines as there are ways stay at random places.
    bool scattered_lines_stay(std::uint64_t line, std::uint64_t ways) {
        const std::uint64_t places = std::min(q_.buffer_bytes, 16 * fitted_) / line;
        const auto count = static_cast<std::size_t>(kScattered * static_cast<double>(ways));
        std::vector<std::uint64_t> numbers(places);
        std::iota(numbers.begin(), numbers.end(), std::uint64_t{0});
        for (int draw = 0; draw < kScatteredDraws; ++draw) {
            std::shuffle(numbers.begin(), numbers.end(), probe_.random());
            Offsets offsets;
            for (std::size_t i = 0; i < std::min<std::size_t>(count, numbers.size()); ++i)
                offsets.push_back(numbers[i] * line);
            if (!stay(offsets)) return false;
        }
        return true;
    }

    /// How many lines so far apart stay; `most` if that many do.
    std::uint64_t lines_that_stay(std::uint64_t distance, std::uint64_t most) {
        most = std::min(most, q_.buffer_bytes / distance);
        if (most == 0) return 0;
        std::uint64_t low = 1, high = 2;
        while (high <= most && stay(spaced(distance, high))) low = high, high *= 2;
        high = std::min(high, most + 1);
        while (high - low > 1) {
            const std::uint64_t middle = low + (high - low) / 2;
            (stay(spaced(distance, middle)) ? low : high) = middle;
        }
        return low;
    }
    /// A line too many misses once a lap, but with a random policy each of its set's lines only now and then.
    bool stay(const Offsets& offsets) {
        if (offsets.empty()) return true;
        const double disturbed = probe_.outlier_rate();
        const auto passes =
            static_cast<std::uint32_t>(std::clamp<std::uint64_t>(q_.max_pass_loads / offsets.size(), 2, 32));
        const auto longest = static_cast<std::uint32_t>(
            std::clamp<std::uint64_t>(kConfirmingPasses * q_.max_pass_loads / offsets.size(), 4, kShortSequencePasses));
        // What disturbs single loads does not disturb every try; a line too many is there in every one. Most that stay
        // do so soon.
        const double outliers = 3 * std::sqrt(disturbed / kQuietReadings);
        const auto few = static_cast<std::uint32_t>(std::min<std::uint64_t>(longest, kSettlingPasses));
        for (const std::uint32_t warm : {few, patient_ ? longest : few, few})
            if (miss_share(offsets, warm, passes) - disturbed <= 0.5 / static_cast<double>(offsets.size()) + outliers)
                return true;
        return false;
    }

    /// Lines a multiple of the way's size apart collide, whatever the capacity is. Going down from distances that
    /// surely are multiples, the number that stays doubles below the size of a way. Where the sets have an odd factor,
    /// lines a power of two apart spread over as many sets.
    std::optional<Set> find_colliding_lines() {
        std::uint64_t distance = std::bit_ceil(q_.overflows);
        while (distance > step() && (kMaxColliding + 2) * distance > q_.buffer_bytes) distance /= 2;
        std::uint64_t ways = lines_that_stay(distance, kMaxColliding);
        for (int plateau = 1; distance / 2 >= step() && ways < kMaxColliding; ++plateau) {
            const std::uint64_t nearer = lines_that_stay(distance / 2, kMaxColliding);
            if (nearer == ways) {
                distance /= 2;
                continue;
            }
            if (plateau > 1 && nearer >= std::min(2 * ways, kMaxColliding)) return without_odd_factor({distance, ways});
            // Something else than this cache runs out at larger distances, such as a TLB.
            distance /= 2;
            ways = nearer;
            plateau = 0;
        }
        return std::nullopt;
    }
    Set without_odd_factor(Set set) {
        for (std::uint64_t odd = 3; odd <= set.ways; odd += 2) {
            if (set.ways % odd != 0 || (set.ways / odd + 2) * set.way * odd > q_.buffer_bytes) continue;
            if (lines_that_stay(set.way * odd, set.ways / odd + 1) == set.ways / odd)
                return {set.way * odd, set.ways / odd};
        }
        return set;
    }

    /// With a part of the loads: hashed lines do not collide however far apart, and the array's size is to be found all
    /// the same.
    bool find_cheaply_by_distance() {
        const LoadBudget budget(probe_, probe_.loads_left() / kDistanceShare);
        try {
            return find_sets_by_distance();
        } catch (const BudgetExhausted& exception) {
            return remark(exception.what());
        }
    }

    bool find_sets_by_distance() {
        const auto set = find_colliding_lines();
        if (!set)
            return remark(
                "lines powers of two apart do not collide: the set is a hash of the address, or there is one set, or "
                "an odd number of sets");
        const std::uint64_t capacity = set->ways * set->way;
        if (2 * capacity > q_.buffer_bytes || (set->ways + 2) * set->way > q_.buffer_bytes)
            return remark("lines collide only too far apart to look closer");
        const auto share = [&](std::uint64_t bytes) { return miss_share(strided(bytes, step()), kSettlingPasses, 1); };
        if (share(capacity / 4 * 3) > kDisturbed || share(capacity / 2 * 3) <= kDisturbed)
            return remark(
                fmt::format("{} lines {} bytes apart collide, but an array of those {} bytes does not behave so",
                            set->ways + 1, set->way, capacity));
        const std::uint64_t line = find_line(set->way, set->ways);
        if (line >= set->way || set->way % line != 0) return remark("no line size explains which lines collide");
        return decide(set->way, set->ways, line, false);
    }

    /// Everything misses: lines any distance apart are one set. The distance need only be a line, which is a few
    /// sectors; far apart, a TLB would run out before.
    Set lone_set() {
        std::uint64_t distance = kMaxSectors * sector_;
        while (distance > sector_ && (fitted_ / sector_ + 1) * distance > q_.buffer_bytes) distance /= 2;
        const auto apart = static_cast<double>(lines_that_stay(distance, fitted_ / sector_ + 1));
        for (std::uint64_t line = distance; line >= sector_; line /= 2) {
            const std::uint64_t ways = fitted_ / line;
            if (std::abs(apart - static_cast<double>(ways)) <= kLinesOff * apart) return {distance, ways};
        }
        return {};
    }

    /// Of a cache with one set: the power of two of sectors that makes so many lines of the capacity.
    [[nodiscard]] std::uint64_t line_of(const Set& lone) const {
        std::uint64_t line = kMaxSectors * sector_;
        while (line > sector_ && fitted_ / line != lone.ways) line /= 2;
        return line;
    }

    /// Greatest common distance of the lines that miss; a line may miss in several neighbouring sectors.
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

    /// `ways` lines a way's size apart stay, one more does not.
    bool verify_ways(std::uint64_t way, std::uint64_t ways) {
        if (ways == 0 || (ways + 2) * way > q_.buffer_bytes) return false;
        if (!stay(spaced(way, ways)) || !overflows(spaced(way, ways + 1))) return false;
        // So they do elsewhere, unless the set is a hash of the address.
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
    /// Lines that do not fit miss at least once a lap, whatever the policy; slow loads by accident are known by then.
    bool overflows(const Offsets& offsets) {
        return miss_share(offsets) - probe_.outlier_rate() > 0.5 / static_cast<double>(offsets.size());
    }

    /// Every second of ways + 1 lines of one set is shifted: they stay one set until the shift reaches the line size.
    std::uint64_t find_line(std::uint64_t way, std::uint64_t ways) {
        const std::uint64_t count = ways + 1 + (ways + 1) % 2;
        for (std::uint64_t line = q_.probe_stride > q_.word ? q_.word : sector_; line < way; line *= 2)
            if (!overflows(spaced(way, count, line))) return line;
        return way;
    }

    const Probe& probe_;
    const CacheQuestion& q_;
    std::uint64_t sector_;          ///< bytes that one miss fills
    std::uint64_t fitted_ = 0;      ///< bytes; largest array that was seen to fit
    std::uint64_t overflow_ = 0;    ///< bytes; the array one step larger, which does not
    std::uint64_t overflowed_ = 0;  ///< bytes; smallest that was seen not to
    bool patient_ = true;           ///< whether lines that do not stay soon may do so late
    EqualSetsResult found_;
};

}  // namespace

EqualSetsResult find_equal_sets(const Probe& probe, std::uint64_t piece) { return EqualSetsSearch(probe, piece).run(); }

}  // namespace gputomo::deduce::cache
