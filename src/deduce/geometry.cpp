#include "deduce/geometry.hpp"

#include "deduce/cache_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <numeric>
#include <random>

namespace gputomo::deduce {
namespace {

/// Laps recorded where a few misses among many loads decide: more for short tours, since lines that compete for a set under a
/// random policy miss only now and then.
constexpr std::uint64_t kFewestLaps = 5, kMostLaps = 40;
/// Laps that even a random policy needs to settle on an array that fits.
constexpr std::uint64_t kSettlingLaps = 16;
/// Share of readings that may be slow by accident, at worst.
constexpr double kAccident = 0.02;
/// Share of loads that may be slow by accident (other clients, refresh); more are misses without a closer look.
constexpr double kDisturbed = 0.05;
constexpr std::uint32_t kPolicyWarm = 6, kPolicyRecorded = 12;
/// A walk that no candidate predicts better than this is explained by none of them.
constexpr double kExplained = 0.97;

using Offsets = std::vector<std::uint64_t>;

class Geometer {
public:
    Geometer(const Chase& chase, const CacheQuestion& question) : chase_(chase), q_(question), random_(question.seed) {
        if (q_.visible == 0) q_.visible = q_.word;
    }

    CacheFindings run() {
        find_sector();
        if (sector_ == 0) return std::move(found_);
        if (!find_capacity()) return std::move(found_);
        find_sets();
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
        const std::uint64_t affordable = 2 * q_.most_loads / std::max<std::uint64_t>(1, offsets.size());
        const auto laps = static_cast<std::uint32_t>(std::clamp(affordable, kFewestLaps, kMostLaps));
        const auto rates = miss_rates(offsets, static_cast<std::uint32_t>(std::clamp<std::uint64_t>(affordable, 2, kSettlingLaps)), laps);
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
        const std::uint64_t coarse = std::max<std::uint64_t>(q_.visible, q_.word == 8 ? 16 : q_.word);
        const std::uint64_t evict = std::min(q_.largest / 2, q_.overflows * 2);
        const std::uint64_t window = std::min<std::uint64_t>(evict / 2, q_.word * 512);
        Offsets tour;
        for (std::uint64_t at = 0; at < window; at += q_.word) tour.push_back(at);
        const std::size_t watched = tour.size();
        for (std::uint64_t at = window + coarse; at < evict; at += std::max(coarse, evict / q_.most_loads / 8 * 8)) tour.push_back(at);
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
        const auto rates = miss_rates(offsets, 1, 1);
        const double share = std::accumulate(rates.begin(), rates.end(), 0.0) / static_cast<double>(rates.size());
        if (share > kDisturbed) {
            // A cold start may take more than one lap where replacement is not LRU.
            const auto again = miss_rates(offsets, share > 0.9 ? 2 : kSettlingLaps, 1);
            if (std::accumulate(again.begin(), again.end(), 0.0) / static_cast<double>(again.size()) > kDisturbed) return false;
        }
        // Misses come by whole sets: two lines and more.
        return persistent_misses(offsets).size() < 2;
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
        if (low == 0) {
            found_.remarks.push_back("no array was served without misses");
            return false;
        }
        while (high - low > tolerance) {
            const std::uint64_t middle = low + (high - low) / 2;
            (fits(middle * step()) ? low : high) = middle;
        }
        fitted_ = low * step();
        const auto b = static_cast<std::int64_t>(fitted_), over = static_cast<std::int64_t>(high * step());
        found_.capacity = {b, tolerance == 1 ? 0.9 : 0.5, {b, over - static_cast<std::int64_t>(step())}, {}};
        return tolerance == 1;
    }

    /// Adds one step to the fitted array and reads off which loads then miss.
    void find_sets() {
        const auto tour = strided(fitted_ + step(), step());
        const auto missing = persistent_misses(tour);
        const std::uint64_t way = missing.size() + 1 >= tour.size() ? one_set_distance() : common_distance(missing);
        if (way == 0) return found_.remarks.push_back("the overflow past the capacity did not show one set");
        const bool one_set = missing.size() + 1 >= tour.size();
        if (!one_set && fitted_ % way != 0)
            return found_.remarks.push_back(fmt::format("{} loads overflow together, and their distance does not divide the capacity: unequal sets or a hash", missing.size()));
        const std::uint64_t ways = one_set ? ways_apart(way) : fitted_ / way;
        if (!verify_ways(way, ways)) return found_.remarks.push_back(fmt::format("{} lines {} bytes apart do not behave as one set of {} ways", ways + 1, way, ways));
        const std::uint64_t line = one_set ? fitted_ / ways : find_line(way, ways);
        if (one_set && fitted_ % ways != 0) return found_.remarks.push_back(fmt::format("{} entries do not divide the capacity", ways));
        const auto exact = [&](std::uint64_t v) {
            const auto value = static_cast<std::int64_t>(v);
            return Finding{value, 0.99, {value, value}, {}};
        };
        found_.ways = exact(ways);
        found_.capacity = exact(fitted_);
        found_.line = exact(line);
        found_.sets = exact(one_set ? 1 : way / line);
        found_.index = "modulo";
        find_policy(way, ways, line);
    }

    /// Everything misses: lines any distance apart are one set. A distance no line reaches, that arrays still allow for.
    [[nodiscard]] std::uint64_t one_set_distance() const { return std::bit_floor(q_.largest / (fitted_ / sector_ + 2)); }
    /// How many lines that far apart stay.
    std::uint64_t ways_apart(std::uint64_t distance) {
        std::uint64_t low = 1, high = fitted_ / sector_ + 1;
        while (high - low > 1) {
            const std::uint64_t middle = low + (high - low) / 2;
            (persistent_misses(spaced(distance, middle)).empty() ? low : high) = middle;
        }
        return low;
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
        disturbed_ = miss_share(spaced(way, ways));
        return persistent_misses(spaced(way, ways)).empty() && overflows(spaced(way, ways + 1));
    }
    double miss_share(const Offsets& offsets) {
        const auto rates = miss_rates(offsets, 4, 32);
        return std::accumulate(rates.begin(), rates.end(), 0.0) / static_cast<double>(rates.size());
    }
    /// Lines that do not fit miss at least once a lap, whatever the policy; slow loads by accident are known by then.
    bool overflows(const Offsets& offsets) { return miss_share(offsets) - disturbed_ > 0.5 / static_cast<double>(offsets.size()); }

    /// Every second of ways + 1 lines of one set is shifted: they stay one set until the shift reaches the line size.
    std::uint64_t find_line(std::uint64_t way, std::uint64_t ways) {
        const std::uint64_t count = ways + 1 + (ways + 1) % 2;
        for (std::uint64_t line = q_.visible > q_.word ? q_.word : sector_; line < way; line *= 2)
            if (!overflows(spaced(way, count, line))) return line;
        return way;
    }

    /// Words of several lines of one set in random order; each candidate policy predicts the hits and misses.
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
        for (std::uint64_t l = first; l < first + lines; ++l)
            for (std::uint64_t v = 0; v < visits; ++v) tour.push_back(l * way + v * (piece / visits / q_.word * q_.word));
        std::shuffle(tour.begin(), tour.end(), random_);
        const auto latencies = chase_({tour, kPolicyWarm, kPolicyRecorded}).latencies;
        if (latencies.size() < tour.size() * kPolicyRecorded) return;
        std::vector<std::uint32_t> walk;
        for (std::uint32_t lap = 0; lap < kPolicyWarm + kPolicyRecorded; ++lap)
            for (const auto offset : tour) walk.push_back(static_cast<std::uint32_t>(offset / way));
        for (const auto name : candidate_policies()) found_.policy.agreement.emplace_back(name, agreement(name, static_cast<std::uint32_t>(ways), walk, latencies));
        judge_policy(latencies, tour.size(), kPolicyRecorded);
    }

    /// Best share of loads a policy predicts, over states that the set may have been in before the walk.
    double agreement(std::string_view policy, std::uint32_t ways, const std::vector<std::uint32_t>& walk, const std::vector<double>& latencies) {
        constexpr int kHistories = 12;
        double best = 0;
        for (int trial = 0; trial < kHistories; ++trial) {
            std::vector<std::uint32_t> lines;
            for (std::uint32_t i = 0; trial > 0 && i < 4 * ways; ++i) lines.push_back(0x8000'0000U + static_cast<std::uint32_t>(random_() % (2 * ways)));
            lines.insert(lines.end(), walk.begin(), walk.end());
            const auto hits = predicted_hits(policy, ways, lines);
            std::size_t right = 0;
            for (std::size_t i = 0; i < latencies.size(); ++i)
                right += hits[hits.size() - latencies.size() + i] == (latencies[i] <= q_.threshold) ? 1 : 0;
            best = std::max(best, static_cast<double>(right) / static_cast<double>(latencies.size()));
        }
        return best;
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
        found_.policy.name = changing > 0.08 ? "random" : "not-lru";
        found_.policy.confidence = changing > 0.08 ? 0.9 : 0.8;
        found_.remarks.push_back(fmt::format("best candidate {} explains {:.1f}% of a random walk; {:.1f}% of its loads change between laps", ranked[0].first, best * 100, changing * 100));
    }

    const Chase& chase_;
    CacheQuestion q_;
    std::mt19937_64 random_;
    CacheFindings found_;
    std::uint64_t sector_ = 0;
    std::uint64_t fitted_ = 0;
    double disturbed_ = 0;  ///< share of hits that are slow by accident
};

void add(std::vector<Estimate>& to, const std::string& path, const Finding& finding, const std::string& method) {
    if (finding.confidence <= 0 && finding.candidates.empty()) return;
    Estimate estimate;
    estimate.path = path;
    estimate.method = method;
    estimate.confidence = finding.confidence;
    estimate.value = finding.value;
    estimate.interval = {static_cast<double>(finding.bracket[0]), static_cast<double>(finding.bracket[1])};
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
