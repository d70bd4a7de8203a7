#include "deduce/cache/arrays/equal_sets.hpp"

#include "deduce/cache/arrays/array_capacity.hpp"
#include "deduce/cache/arrays/residency.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <utility>

namespace gputomo::deduce::cache {
namespace {

/// Lines tried at one distance, to find a set by its conflicts. Sets with more ways are not found that way.
constexpr std::uint64_t kMaxConflicting = 96;
/// One part in four of the remaining loads may be spent on that search. If it fails, the rest must do for the array's
/// size.
constexpr std::uint64_t kDistanceShare = 4;
/// Most sectors of a line where all lines are one set. Longer lines would be taken for that size.
constexpr std::uint64_t kMaxSectors = 8;
/// Two counts of the lines of a large set may differ by this share: under a random policy the last lines are hard to
/// see.
constexpr double kCountTolerance = 0.02;
/// In a fully associative cache, 99% of the lines are resident wherever they lie. If the address chose one of several
/// sets, one of them would overflow in nearly every draw.
constexpr double kScattered = 0.99;
constexpr int kScatteredDraws = 3;
/// Fewer lines than this may be spread evenly over several sets at random.
constexpr std::uint64_t kMinScattered = 64;

class EqualSetsSearch {
public:
    EqualSetsSearch(const Probe& probe, std::uint64_t piece)
        : probe_(probe), q_(probe.question()), sector_(piece), residency_(probe, step()) {}

    EqualSetsResult run() {
        const bool many = q_.overflows / step() > kManyLoads;
        try {
            static_cast<void>((many && find_cheaply_by_distance()) || (find_capacity() && find_sets()) ||
                              (!many && find_sets_by_distance()) || (capacity_.fits > 0 && find_one_set()));
        } catch (const BudgetExhausted& exception) {
            remark(exception.what());
        }
        found_.capacity = capacity_;
        return std::move(found_);
    }

private:
    [[nodiscard]] std::uint64_t step() const { return std::max(sector_, q_.probe_stride); }

    bool find_capacity() {
        auto why = find_array_capacity(residency_, q_, step(), capacity_);
        return why.empty() || remark(std::move(why));
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
        const auto sequence = strided(capacity_.fits + step(), step());
        const auto missing = residency_.persistent_misses(sequence);
        const bool one_set = missing.size() + 1 >= sequence.size();
        const Set single = one_set ? single_set() : Set{};
        const std::uint64_t way = one_set ? single.way : common_distance(missing);
        if (way == 0)
            return remark(
                "the loads that miss beyond the capacity show no common distance, so that they are not one set");
        // An entry that something else holds, such as a page of code or of results, makes one set overflow too early.
        const std::uint64_t capacity =
            !one_set && (capacity_.fits + step()) % way == 0 ? capacity_.fits + step() : capacity_.fits;
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
        if (probe_.filtered() || capacity_.fits / step() * kShortSequencePasses > kConfirmingPasses * q_.max_pass_loads)
            return false;
        const Set single = single_set();
        if (single.way == 0 || single.ways < kMinScattered || !scattered_lines_resident(line_of(single), single.ways))
            return false;
        return decide(single.way, single.ways, line_of(single), true);
    }

    /// Whether nearly as many lines as there are ways are resident at random places.
    bool scattered_lines_resident(std::uint64_t line, std::uint64_t ways) {
        const std::uint64_t places = std::min(q_.buffer_bytes, 16 * capacity_.fits) / line;
        const auto count = static_cast<std::size_t>(kScattered * static_cast<double>(ways));
        std::vector<std::uint64_t> numbers(places);
        std::iota(numbers.begin(), numbers.end(), std::uint64_t{0});
        for (int draw = 0; draw < kScatteredDraws; ++draw) {
            std::shuffle(numbers.begin(), numbers.end(), probe_.random());
            Offsets offsets;
            for (std::size_t i = 0; i < std::min<std::size_t>(count, numbers.size()); ++i)
                offsets.push_back(numbers[i] * line);
            if (!residency_.resident(offsets)) return false;
        }
        return true;
    }

    /// Number of lines `distance` apart that are resident together, at most `most`.
    std::uint64_t resident_lines(std::uint64_t distance, std::uint64_t most) {
        most = std::min(most, q_.buffer_bytes / distance);
        if (most == 0) return 0;
        std::uint64_t low = 1, high = 2;
        while (high <= most && residency_.resident(spaced(distance, high))) low = high, high *= 2;
        high = std::min(high, most + 1);
        while (high - low > 1) {
            const std::uint64_t middle = low + (high - low) / 2;
            (residency_.resident(spaced(distance, middle)) ? low : high) = middle;
        }
        return low;
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
        const auto share = [&](std::uint64_t bytes) {
            return residency_.miss_share(strided(bytes, step()), kSettlingPasses, 1);
        };
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
        while (distance > sector_ && (capacity_.fits / sector_ + 1) * distance > q_.buffer_bytes) distance /= 2;
        const auto apart = static_cast<double>(resident_lines(distance, capacity_.fits / sector_ + 1));
        for (std::uint64_t line = distance; line >= sector_; line /= 2) {
            const std::uint64_t ways = capacity_.fits / line;
            if (std::abs(apart - static_cast<double>(ways)) <= kCountTolerance * apart) return {distance, ways};
        }
        return {};
    }

    /// Line size of a cache with one set: the power of two of sectors at which the capacity has the set's number of
    /// lines.
    [[nodiscard]] std::uint64_t line_of(const Set& single) const {
        std::uint64_t line = kMaxSectors * sector_;
        while (line > sector_ && capacity_.fits / line != single.ways) line /= 2;
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
        if (!residency_.resident(spaced(way, ways)) || !residency_.overflows(spaced(way, ways + 1))) return false;
        // Lines elsewhere overflow too, unless the set is a hash of the address.
        for (const std::uint64_t elsewhere :
             {3 * way / 8 / step() * step(), (ways + 3) * way + 5 * way / 8 / step() * step()}) {
            auto moved = spaced(way, ways + 1);
            for (auto& offset : moved) offset += elsewhere;
            if (moved.back() < q_.buffer_bytes && !residency_.overflows(moved)) return false;
        }
        return true;
    }
    /// Every second of ways + 1 lines of one set is shifted. They stay in one set until the shift reaches the line
    /// size.
    std::uint64_t find_line(std::uint64_t way, std::uint64_t ways) {
        const std::uint64_t count = ways + 1 + (ways + 1) % 2;
        for (std::uint64_t line = q_.probe_stride > q_.word ? q_.word : sector_; line < way; line *= 2)
            if (!residency_.overflows(spaced(way, count, line))) return line;
        return way;
    }

    const Probe& probe_;
    const CacheQuestion& q_;
    std::uint64_t sector_;  ///< bytes that one miss fills
    Residency residency_;
    Bracket capacity_;
    EqualSetsResult found_;
};

}  // namespace

EqualSetsResult find_equal_sets(const Probe& probe, std::uint64_t piece) { return EqualSetsSearch(probe, piece).run(); }

}  // namespace gputomo::deduce::cache
