#include "deduce/geometry.hpp"

#include "deduce/cache_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <random>

namespace gputomo::deduce {
namespace {

/// Laps recorded where a few misses among many loads decide: more for short tours, since lines that compete for a set under a
/// random policy miss only now and then.
constexpr std::uint64_t kFewestLaps = 5, kMostLaps = 40;
/// Laps that even a random policy needs to settle on an array that fits.
constexpr std::uint64_t kSettlingLaps = 16;
/// Tours of at most so many loads are walked so often before they count: a random policy finds the last free way late.
constexpr std::uint64_t kShortTour = 160, kShortTourLaps = 300;
/// Loads, as multiples of those of the longest lap, that may be spent to see whether lines stay for good.
constexpr std::uint64_t kConfirmingLaps = 16;
/// Lines tried at one distance, to find a set by its collisions.
constexpr std::uint64_t kMostColliding = 96;
/// Arrays of more loads are looked at by collisions first: that takes far fewer loads.
constexpr std::uint64_t kManyLoads = 4096;
/// Of a line.
constexpr std::uint64_t kMostSectors = 8;
/// Share by which two counts of the lines of a large set may differ: with a random policy the last ones are hard to see.
constexpr double kLinesOff = 0.02;
/// Loads of a small array, which tell how many readings are slow by accident.
constexpr std::uint64_t kQuietLoads = 1024, kQuietReadings = 16 * kQuietLoads;
/// Of a fully associative cache's lines, this share stays wherever the lines are; where they choose one of several sets, one of the
/// sets overflows in nearly every draw.
constexpr double kScattered = 0.99;
constexpr int kScatteredDraws = 3;
/// Whether lines stay is tried so often before they don't.
constexpr int kTries = 3;
/// Fewer lines than this may lie well spread over several sets by chance.
constexpr std::uint64_t kFewestScattered = 64;
/// Share of readings that may be slow by accident, at worst.
constexpr double kAccident = 0.02;
/// Share of loads that may be slow by accident (other clients, refresh); more are misses without a closer look.
constexpr double kDisturbed = 0.05;
constexpr std::uint32_t kPolicyWarm = 6, kPolicyRecorded = 12;
/// Recorded laps after which a model that follows the observations is in the set's state.
constexpr std::uint32_t kFollowedLaps = 4;
/// A walk that no candidate predicts better than this is explained by none of them.
constexpr double kExplained = 0.97;
/// One that a candidate predicts better than this may be its policy, with something in the way.
constexpr double kNearlyExplained = 0.87;
/// A random policy changes more of a walk's loads from one lap to the next than this.
constexpr double kChanging = 0.08;

using Offsets = std::vector<std::uint64_t>;

class Geometer {
public:
    Geometer(const Chase& chase, const CacheQuestion& question) : chase_(chase), q_(question), random_(question.seed) {
        if (q_.visible == 0) q_.visible = q_.word;
    }

    CacheFindings run() {
        find_sector();
        if (sector_ == 0) return std::move(found_);
        const bool many = q_.overflows / step() > kManyLoads;
        if (many && find_sets_by_distance()) return std::move(found_);
        if (find_capacity() && find_sets()) return std::move(found_);
        if (!many && find_sets_by_distance()) return std::move(found_);
        if (fitted_ > 0 && !find_one_set()) leave_capacity_open();
        return std::move(found_);
    }

private:
    /// Share of recorded laps in which each load of the tour misses.
    std::vector<double> miss_rates(const Offsets& offsets, std::uint32_t warm, std::uint32_t laps) {
        const auto latencies = chase_({offsets, warm, laps}).latencies;
        std::vector<double> rates(offsets.size(), 0.0);
        for (std::size_t i = 0; i < latencies.size() && !offsets.empty(); ++i)
            if (latencies[i] > q_.threshold) rates[i % offsets.size()] += 1.0 / laps;
        return rates;
    }
    /// Loads that miss more often than accidents explain (less than one such load expected in twenty tours).
    Offsets persistent_misses(const Offsets& offsets) {
        if (offsets.empty()) return {};
        const std::uint64_t affordable = 2 * q_.most_loads / offsets.size();
        const auto laps = static_cast<std::uint32_t>(std::clamp(affordable, kFewestLaps, kMostLaps));
        const std::uint64_t most_warm = offsets.size() <= kShortTour ? kShortTourLaps : kSettlingLaps;
        const auto rates = miss_rates(offsets, static_cast<std::uint32_t>(std::clamp<std::uint64_t>(affordable, 2, most_warm)), laps);
        const double least = (least_count(laps, offsets.size()) - 0.5) / laps;
        Offsets missing;
        for (std::size_t i = 0; i < offsets.size(); ++i)
            if (rates[i] > least) missing.push_back(offsets[i]);
        return missing;
    }
    /// Smallest count that accidents reach in fewer than 1 in 20 tours (Poisson tail).
    static int least_count(std::uint32_t laps, std::size_t loads) {
        const double mean = kAccident * laps;
        double term = std::exp(-mean), tail = 1 - term;
        int count = 1;
        while (tail * static_cast<double>(loads) > 0.05 && count < static_cast<int>(laps)) {
            term *= mean / count++;
            tail -= term;
        }
        return count;
    }

    /// Walks a window word by word after a tour that evicts it: one miss per filled piece.
    void find_sector() {
        const std::uint64_t finest = std::max<std::uint64_t>(q_.visible, q_.word == 8 ? 16 : q_.word);
        const std::uint64_t evict = std::min(std::max(q_.largest / 2, q_.overflows), q_.overflows * 2);
        const std::uint64_t step = std::max(finest, evict / q_.most_loads / finest * finest);
        find_sector(evict, step);
        // A tour in steps longer than a line evicts only some of the sets, and what it leaves looks like one long piece.
        if (sector_ <= step && step > finest) find_sector(evict, finest);
    }
    void find_sector(std::uint64_t evict, std::uint64_t step) {
        const std::uint64_t window = std::min<std::uint64_t>(evict / 2, q_.word * 512);
        Offsets tour;
        for (std::uint64_t at = 0; at < window; at += q_.word) tour.push_back(at);
        const std::size_t watched = tour.size();
        for (std::uint64_t at = window + step; at < evict; at += step) tour.push_back(at);
        const auto rates = miss_rates(tour, 1, 3);
        std::map<std::uint64_t, int> distances;
        std::uint64_t last = 0;
        int misses = 0;
        for (std::size_t i = 0; i < watched; ++i) {
            if (rates[i] <= 0.5) continue;
            if (misses++ > 0) ++distances[tour[i] - last];
            last = tour[i];
        }
        if (misses < 2) {
            found_.remarks.push_back("no misses where eviction was expected");
            if (misses == 1) {  // the window lies in one piece
                sector_ = window;
                found_.sector = {0, 0, {static_cast<std::int64_t>(window), static_cast<std::int64_t>(q_.overflows)}, {}};
            }
            return;
        }
        const auto modal = std::max_element(distances.begin(), distances.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
        sector_ = modal->first;
        const double share = static_cast<double>(modal->second) / (misses - 1);
        found_.sector = {static_cast<std::int64_t>(sector_), share, {static_cast<std::int64_t>(sector_), static_cast<std::int64_t>(sector_)}, {}};
    }

    [[nodiscard]] std::uint64_t step() const { return std::max(sector_, q_.visible); }

    bool fits(std::uint64_t bytes) {
        const auto offsets = strided(bytes, step());
        const double share = miss_share(offsets, 1, 1);
        // A cold start may take more than one lap where replacement is not LRU.
        if (share > kDisturbed && miss_share(offsets, share > 0.9 ? 2 : kSettlingLaps, 1) > kDisturbed) return false;
        // Misses come by whole sets: two lines and more. With a random policy they are spread thin over many lines.
        return persistent_misses(offsets).size() < 2 && stay(offsets);
    }

    bool find_capacity() {
        std::uint64_t low = q_.fits / step(), high = (q_.overflows + step() - 1) / step();
        const std::uint64_t tolerance = high > q_.most_loads ? high / 64 : 1;
        // The bracket comes from a coarse walk, which may have touched only some of the sets.
        while (low > 0 && !fits(low * step())) {
            high = low;
            low /= 2;
        }
        while (high * step() * 2 <= q_.largest && fits(high * step())) {
            low = high;
            high *= 2;
        }
        if (low == 0) return remark("no array was served without misses");
        while (high - low > tolerance) {
            const std::uint64_t middle = low + (high - low) / 2;
            (fits(middle * step()) ? low : high) = middle;
        }
        fitted_ = low * step();
        overflowed_ = std::max(high * step(), q_.overflows);
        return tolerance == 1;
    }

    /// An array that fits in one order may not fit in another where the set is a hash of the address or the victim is drawn.
    void leave_capacity_open() {
        found_.capacity = {static_cast<std::int64_t>(fitted_), 0.5, {static_cast<std::int64_t>(fitted_), static_cast<std::int64_t>(overflowed_)}, {}};
    }

    struct Set {
        std::uint64_t way = 0, ways = 0;  ///< lines `way` bytes apart share it; so many of them stay
    };

    bool remark(std::string text) {
        found_.remarks.push_back(std::move(text));
        return false;
    }

    /// Adds one step to the fitted array and reads off which loads then miss.
    bool find_sets() {
        const auto tour = strided(fitted_ + step(), step());
        const auto missing = persistent_misses(tour);
        const bool one_set = missing.size() + 1 >= tour.size();
        const Set lone = one_set ? lone_set() : Set{};
        const std::uint64_t way = one_set ? lone.way : common_distance(missing);
        if (way == 0) return remark("the overflow past the capacity did not show one set");
        // An entry that something else than the walk holds, such as a page of code or results, makes one set overflow too early.
        if (!one_set && (fitted_ + step()) % way == 0) fitted_ += step();
        if (!one_set && fitted_ % way != 0)
            return remark(fmt::format("{} loads overflow together, and their distance does not divide the capacity: unequal sets or a hash", missing.size()));
        const std::uint64_t ways = one_set ? lone.ways : fitted_ / way;
        if (!verify_ways(way, ways)) return remark(fmt::format("{} lines {} bytes apart do not behave as one set of {} ways", ways + 1, way, ways));
        const std::uint64_t line = one_set ? line_of(lone) : find_line(way, ways);
        if (one_set && !scattered_lines_stay(line, ways)) return remark("lines at random places overflow before the capacity is reached: the set is a hash of the address");
        if (!one_set && (line >= way || way % line != 0)) return remark("no line size explains which lines overflow together");
        decide(way, ways, line, one_set);
        return true;
    }

    void decide(std::uint64_t way, std::uint64_t ways, std::uint64_t line, bool one_set) {
        const auto exact = [&](std::uint64_t v) {
            const auto value = static_cast<std::int64_t>(v);
            return Finding{value, 0.99, {value, value}, {}};
        };
        found_.ways = exact(ways);
        found_.capacity = exact(one_set ? ways * line : ways * way);
        found_.line = exact(line);
        found_.sets = exact(one_set ? 1 : way / line);
        found_.index = "modulo";
        find_policy(way, ways, line);
    }

    /// One set with a random policy: a line too many does not push out all others, so that the overflow does not show it.
    bool find_one_set() {
        if (fitted_ / step() * kShortTourLaps > kConfirmingLaps * q_.most_loads) return false;
        const Set lone = lone_set();
        if (lone.way == 0 || lone.ways < kFewestScattered || !scattered_lines_stay(line_of(lone), lone.ways)) return false;
        decide(lone.way, lone.ways, line_of(lone), true);
        return true;
    }

    /// Whether nearly as many lines as there are ways stay at random places.
    bool scattered_lines_stay(std::uint64_t line, std::uint64_t ways) {
        const std::uint64_t places = std::min(q_.largest, 16 * fitted_) / line;
        const auto count = static_cast<std::size_t>(kScattered * static_cast<double>(ways));
        std::vector<std::uint64_t> numbers(places);
        std::iota(numbers.begin(), numbers.end(), std::uint64_t{0});
        for (int draw = 0; draw < kScatteredDraws; ++draw) {
            std::shuffle(numbers.begin(), numbers.end(), random_);
            Offsets offsets;
            for (std::size_t i = 0; i < std::min<std::size_t>(count, numbers.size()); ++i) offsets.push_back(numbers[i] * line);
            if (!stay(offsets)) return false;
        }
        return true;
    }

    /// How many lines so far apart stay; `most` if that many do.
    std::uint64_t lines_that_stay(std::uint64_t distance, std::uint64_t most) {
        most = std::min(most, q_.largest / distance);
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
    /// Of loads that hit, the share that is slow all the same.
    double share_of_accidents() {
        if (disturbed_ < 0) {
            const auto quiet = strided(std::min(std::max(q_.fits / 4, step()), kQuietLoads * step()), step());
            disturbed_ = miss_share(quiet, 4, static_cast<std::uint32_t>(kQuietReadings / quiet.size()));
        }
        return disturbed_;
    }
    /// A line too many misses once a lap, but with a random policy each of its set's lines only now and then.
    bool stay(const Offsets& offsets) {
        if (offsets.empty()) return true;
        const double disturbed = share_of_accidents();
        const auto laps = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(q_.most_loads / offsets.size(), 2, 32));
        auto warm = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(kConfirmingLaps * q_.most_loads / offsets.size(), 4, kShortTourLaps));
        // What disturbs single loads does not disturb every try; a line too many is there in every one.
        const double accidents = 3 * std::sqrt(disturbed / kQuietReadings);
        for (int i = 0; i < kTries; ++i, warm = kSettlingLaps)
            if (miss_share(offsets, warm, laps) - disturbed <= 0.5 / static_cast<double>(offsets.size()) + accidents) return true;
        return false;
    }

    /// Lines a multiple of the way's size apart collide, whatever the capacity is. Going down from distances that surely are
    /// multiples, the number that stays doubles below the size of a way. Where the sets have an odd factor, lines a power of two
    /// apart spread over as many sets.
    std::optional<Set> find_colliding_lines() {
        std::uint64_t distance = std::bit_ceil(q_.overflows);
        while (distance > step() && (kMostColliding + 2) * distance > q_.largest) distance /= 2;
        std::uint64_t ways = lines_that_stay(distance, kMostColliding);
        for (int plateau = 1; distance / 2 >= step() && ways < kMostColliding; ++plateau) {
            const std::uint64_t nearer = lines_that_stay(distance / 2, kMostColliding);
            if (nearer == ways) {
                distance /= 2;
                continue;
            }
            if (plateau > 1 && nearer >= std::min(2 * ways, kMostColliding)) return without_odd_factor({distance, ways});
            // Something else than this cache runs out at larger distances, such as a TLB.
            distance /= 2;
            ways = nearer;
            plateau = 0;
        }
        return std::nullopt;
    }
    Set without_odd_factor(Set set) {
        for (std::uint64_t odd = 3; odd <= set.ways; odd += 2) {
            if (set.ways % odd != 0 || (set.ways / odd + 2) * set.way * odd > q_.largest) continue;
            if (lines_that_stay(set.way * odd, set.ways / odd + 1) == set.ways / odd) return {set.way * odd, set.ways / odd};
        }
        return set;
    }

    bool find_sets_by_distance() {
        const auto set = find_colliding_lines();
        if (!set) return remark("lines powers of two apart do not collide: the set is a hash of the address, or there is one set, or an odd number of sets");
        const std::uint64_t capacity = set->ways * set->way;
        if (2 * capacity > q_.largest || (set->ways + 2) * set->way > q_.largest) return remark("lines collide only too far apart to look closer");
        const auto share = [&](std::uint64_t bytes) { return miss_share(strided(bytes, step()), kSettlingLaps, 1); };
        if (share(capacity / 4 * 3) > kDisturbed || share(capacity / 2 * 3) <= kDisturbed)
            return remark(fmt::format("{} lines {} bytes apart collide, but an array of those {} bytes does not behave so", set->ways + 1, set->way, capacity));
        const std::uint64_t line = find_line(set->way, set->ways);
        if (line >= set->way || set->way % line != 0) return remark("no line size explains which lines collide");
        decide(set->way, set->ways, line, false);
        return true;
    }

    /// Everything misses: lines any distance apart are one set. The distance need only be a line, which is a few sectors; far
    /// apart, a TLB would run out before.
    Set lone_set() {
        std::uint64_t distance = kMostSectors * sector_;
        while (distance > sector_ && (fitted_ / sector_ + 1) * distance > q_.largest) distance /= 2;
        const auto apart = static_cast<double>(lines_that_stay(distance, fitted_ / sector_ + 1));
        for (std::uint64_t line = distance; line >= sector_; line /= 2) {
            const std::uint64_t ways = fitted_ / line;
            if (std::abs(apart - static_cast<double>(ways)) <= kLinesOff * apart) return {distance, ways};
        }
        return {};
    }

    /// Of a cache with one set: the power of two of sectors that makes so many lines of the capacity.
    [[nodiscard]] std::uint64_t line_of(const Set& lone) const {
        std::uint64_t line = kMostSectors * sector_;
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
        if (ways == 0 || (ways + 2) * way > q_.largest) return false;
        if (!stay(spaced(way, ways)) || !overflows(spaced(way, ways + 1))) return false;
        // So they do elsewhere, unless the set is a hash of the address.
        for (const std::uint64_t elsewhere : {3 * way / 8 / step() * step(), (ways + 3) * way + 5 * way / 8 / step() * step()}) {
            auto moved = spaced(way, ways + 1);
            for (auto& offset : moved) offset += elsewhere;
            if (moved.back() < q_.largest && !overflows(moved)) return false;
        }
        return true;
    }
    double miss_share(const Offsets& offsets, std::uint32_t warm = 4, std::uint32_t laps = 32) {
        const auto rates = miss_rates(offsets, warm, laps);
        return std::accumulate(rates.begin(), rates.end(), 0.0) / static_cast<double>(rates.size());
    }
    /// Lines that do not fit miss at least once a lap, whatever the policy; slow loads by accident are known by then.
    bool overflows(const Offsets& offsets) { return miss_share(offsets) - share_of_accidents() > 0.5 / static_cast<double>(offsets.size()); }

    /// Every second of ways + 1 lines of one set is shifted: they stay one set until the shift reaches the line size.
    std::uint64_t find_line(std::uint64_t way, std::uint64_t ways) {
        const std::uint64_t count = ways + 1 + (ways + 1) % 2;
        for (std::uint64_t line = q_.visible > q_.word ? q_.word : sector_; line < way; line *= 2)
            if (!overflows(spaced(way, count, line))) return line;
        return way;
    }

    /// Words of several lines of one set in random orders; each candidate policy predicts the hits and misses.
    void find_policy(std::uint64_t way, std::uint64_t ways, std::uint64_t line) {
        const std::uint64_t piece = std::min(line, sector_);
        const std::uint64_t visits = std::min<std::uint64_t>(4, piece / q_.word);
        const std::uint64_t lines = ways + 2 + ways / 4;
        // Lines the set has not seen, so that nothing of an earlier tour counts as held.
        const std::uint64_t first = (lines + ways + 4) * way <= q_.largest ? ways + 4 : 0;
        if ((first + lines) * way > q_.largest || visits < 2 || ways < 2) {
            found_.remarks.push_back("a line is too short to be visited twice in a tour, or there is one way: the policy is not determined");
            return;
        }
        Offsets tour;
        const auto rounds = draw_rounds(lines, visits);
        for (std::uint64_t v = 0; v < visits; ++v)
            for (const auto line_number : rounds[v]) tour.push_back((first + line_number) * way + v * (piece / visits / q_.word * q_.word));
        const auto latencies = chase_({tour, kPolicyWarm, kPolicyRecorded}).latencies;
        if (latencies.size() < tour.size() * kPolicyRecorded) return;
        std::vector<std::uint32_t> walk;
        std::vector<bool> observed;
        for (std::size_t i = 0; i < latencies.size(); ++i) {
            walk.push_back(static_cast<std::uint32_t>(tour[i % tour.size()] / way));
            observed.push_back(latencies[i] <= q_.threshold);
        }
        for (const auto name : candidate_policies()) {
            const auto predicted = predicted_hits(name, static_cast<std::uint32_t>(ways), walk, observed);
            std::size_t right = 0;
            for (std::size_t i = kFollowedLaps * tour.size(); i < walk.size(); ++i) right += predicted[i] == observed[i] ? 1 : 0;
            found_.policy.agreement.emplace_back(name, static_cast<double>(right) / static_cast<double>(walk.size() - kFollowedLaps * tour.size()));
        }
        judge_policy(latencies, tour.size(), kPolicyRecorded);
    }

    /// Random orders of the lines, one after the other round and round, in which no line comes back at once: a nearer level would
    /// have it still.
    std::vector<Offsets> draw_rounds(std::uint64_t lines, std::uint64_t count) {
        constexpr int kMostShuffles = 1000;
        const std::uint64_t apart = lines / 4;
        const auto soon = [&](const Offsets& before, const Offsets& after) {
            for (std::uint64_t i = 0; i < apart; ++i)
                for (std::uint64_t j = 0; i + j + 1 < apart; ++j)
                    if (after[i] == before[lines - 1 - j]) return true;
            return false;
        };
        std::vector<Offsets> rounds(count, Offsets(lines));
        for (std::uint64_t r = 0; r < count; ++r) {
            std::iota(rounds[r].begin(), rounds[r].end(), std::uint64_t{0});
            for (int i = 0; i < kMostShuffles; ++i) {
                std::shuffle(rounds[r].begin(), rounds[r].end(), random_);
                if ((r == 0 || !soon(rounds[r - 1], rounds[r])) && (r + 1 < count || !soon(rounds[r], rounds[0]))) break;
            }
        }
        return rounds;
    }

    void judge_policy(const std::vector<double>& latencies, std::size_t tour, std::uint32_t laps) {
        auto ranked = found_.policy.agreement;
        std::stable_sort(ranked.begin(), ranked.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
        const double best = ranked[0].second, second = ranked[1].second;
        if (best >= kExplained && best - second > 0.01) {
            found_.policy.name = ranked[0].first;
            found_.policy.confidence = std::min(0.99, 0.5 + (best - second) * 10);
            return;
        }
        if (best >= kExplained) {
            found_.remarks.push_back(fmt::format("{} and {} explain the walk equally well", ranked[0].first, ranked[1].first));
            return;
        }
        // Does the set do the same each lap? A random policy does not.
        std::size_t changes = 0;
        for (std::size_t i = tour; i < latencies.size(); ++i) changes += (latencies[i] > q_.threshold) != (latencies[i - tour] > q_.threshold) ? 1 : 0;
        const double changing = static_cast<double>(changes) / static_cast<double>(tour * (laps - 1));
        const std::string seen = fmt::format("best candidate {} explains {:.1f}% of a random walk; {:.1f}% of its loads change between laps", ranked[0].first, best * 100, changing * 100);
        if (changing <= kChanging && best > kNearlyExplained) {
            found_.remarks.push_back(seen + ": the policy is not determined");
            return;
        }
        found_.policy.name = changing > kChanging ? "random" : "not-lru";
        found_.policy.confidence = changing > kChanging ? 0.9 : 0.8;
        found_.remarks.push_back(seen);
    }

    const Chase& chase_;
    CacheQuestion q_;
    std::mt19937_64 random_;
    CacheFindings found_;
    std::uint64_t sector_ = 0;
    std::uint64_t fitted_ = 0;      ///< bytes; largest array that was seen to fit
    std::uint64_t overflowed_ = 0;  ///< bytes; smallest that was seen not to
    double disturbed_ = -1;  ///< share of hits that are slow by accident
};

/// A number this unsure is an interval.
constexpr double kOpen = 0.5;

void add(std::vector<Estimate>& to, const std::string& path, const Finding& finding, const std::string& method) {
    if (finding.confidence <= 0 && finding.candidates.empty()) return;
    Estimate estimate;
    estimate.path = path;
    estimate.method = method;
    estimate.confidence = finding.confidence;
    estimate.value = finding.value;
    estimate.interval = {static_cast<double>(finding.bracket[0]), static_cast<double>(finding.bracket[1])};
    if (finding.confidence <= kOpen) estimate.verdict = Verdict::undecided;
    if (!finding.candidates.empty()) {
        estimate.verdict = Verdict::undecided;
        estimate.candidates.assign(finding.candidates.begin(), finding.candidates.end());
    }
    to.push_back(std::move(estimate));
}

void add(std::vector<Estimate>& to, const std::string& path, const std::string& value, double confidence, const std::string& method, const std::string& note = {}) {
    if (value.empty()) return;
    Estimate estimate;
    estimate.path = path;
    estimate.value = value;
    estimate.confidence = confidence;
    estimate.method = method;
    estimate.note = note;
    to.push_back(std::move(estimate));
}

std::string policy_note(const CacheFindings& findings) {
    std::string note;
    for (const auto& [name, share] : findings.policy.agreement) note += fmt::format("{}{} explains {:.1f}%", note.empty() ? "" : ", ", name, share * 100);
    return note;
}

}  // namespace

CacheFindings deduce_geometry(const Chase& chase, const CacheQuestion& question) { return Geometer(chase, question).run(); }

std::vector<Estimate> cache_estimates(const CacheFindings& findings, const std::string& prefix, const std::string& method) {
    std::vector<Estimate> estimates;
    add(estimates, prefix + ".sector", findings.sector, method + ": distance of misses in a walk by words");
    add(estimates, prefix + ".capacity", findings.capacity, method + ": largest array walked without misses");
    add(estimates, prefix + ".line", findings.line, method + ": shift at which lines of one set part");
    add(estimates, prefix + ".ways", findings.ways, method + ": lines that overflow together, less one");
    add(estimates, prefix + ".sets", findings.sets, method + ": distance of lines that overflow together");
    add(estimates, prefix + ".index", findings.index, findings.ways.confidence, method + ": distances of lines that overflow together");
    add(estimates, prefix + ".policy", findings.policy.name, findings.policy.confidence, method + ": candidates simulated on a random walk over one set", policy_note(findings));
    return estimates;
}

std::vector<Estimate> tlb_estimates(const CacheFindings& findings, const std::string& prefix, const std::string& method) {
    std::vector<Estimate> estimates;
    add(estimates, prefix + ".span", findings.line, method + ": shift at which entries of one set part");
    add(estimates, prefix + ".reach", findings.capacity, method + ": largest range walked without misses");
    add(estimates, prefix + ".ways", findings.ways, method + ": entries that overflow together, less one");
    add(estimates, prefix + ".sets", findings.sets, method + ": distance of entries that overflow together");
    if (findings.sets.confidence > 0) {
        Finding entries = findings.sets;
        entries.value *= findings.ways.value;
        entries.bracket = {entries.value, entries.value};
        add(estimates, prefix + ".entries", entries, method + ": ways x sets");
    }
    add(estimates, prefix + ".policy", findings.policy.name, findings.policy.confidence, method + ": candidates simulated on a random walk over one set", policy_note(findings));
    return estimates;
}

}  // namespace gputomo::deduce
