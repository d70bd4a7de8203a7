#include "deduce/geometry.hpp"

#include "deduce/cache_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <numeric>
#include <random>

namespace gputomo::deduce {
namespace {

/// Laps recorded where a few misses among many loads decide; a load misses when it does in most of them.
constexpr std::uint32_t kLaps = 5;
/// Share of loads that may be slow by accident (other clients, refresh); more are misses without a closer look.
constexpr double kDisturbed = 0.05;
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
    Offsets persistent_misses(const Offsets& offsets, std::uint32_t warm = 2) {
        const auto rates = miss_rates(offsets, warm, kLaps);
        Offsets missing;
        for (std::size_t i = 0; i < offsets.size(); ++i)
            if (rates[i] > 0.5) missing.push_back(offsets[i]);
        return missing;
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
            const auto again = miss_rates(offsets, 2, 1);
            if (std::accumulate(again.begin(), again.end(), 0.0) / static_cast<double>(again.size()) > kDisturbed) return false;
        }
        // Misses come by whole sets, two lines and more; accidents rarely hit one load in most of the laps.
        return persistent_misses(offsets).size() < 2;
    }

    bool find_capacity() {
        std::uint64_t low = q_.fits / step(), high = (q_.overflows + step() - 1) / step();
        const std::uint64_t tolerance = high > q_.most_loads ? high / 64 : 1;
        while (low > 0 && !fits(low * step())) low /= 2;
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

    /// Adds one step after the other to the fitted array and reads off which loads then miss.
    void find_sets() {
        const auto missing = persistent_misses(strided(fitted_ + step(), step()), 4);
        std::vector<std::pair<std::uint64_t, std::uint64_t>> runs;  // start, length in bytes
        for (const auto at : missing) {
            if (!runs.empty() && at == runs.back().first + runs.back().second) runs.back().second += step();
            else runs.emplace_back(at, step());
        }
        const auto distance = common_distance(runs);
        if (runs.size() < 2 || distance == 0) return found_.remarks.push_back("the overflow past the capacity did not show one set");
        const std::uint64_t way = distance;
        if (fitted_ % way != 0 && !verify_unequal(runs)) return;
        const bool fully_associative = way == step() && runs.size() == fitted_ / step() + 1;
        const std::uint64_t ways = fully_associative ? fitted_ / way : fitted_ / way;
        if (!verify_ways(way, ways)) return found_.remarks.push_back(fmt::format("{} lines {} bytes apart do not behave as one set of {} ways", ways + 1, way, ways));
        const bool all_miss = runs.size() == ways + 1;
        const std::uint64_t line = find_line(way, ways);
        const double confidence = all_miss ? 0.99 : 0.97;
        const auto exact = [&](std::uint64_t v) {
            const auto value = static_cast<std::int64_t>(v);
            return Finding{value, confidence, {value, value}, {}};
        };
        found_.ways = exact(ways);
        found_.capacity = exact(fitted_);
        if (line != 0) {
            found_.line = exact(line);
            found_.sets = exact(way / line);
            found_.index = "modulo";
        }
        find_policy(way, ways, line == 0 ? step() : line);
    }

    static std::uint64_t common_distance(const std::vector<std::pair<std::uint64_t, std::uint64_t>>& runs) {
        std::uint64_t common = 0;
        for (std::size_t i = 1; i < runs.size(); ++i) common = std::gcd(common, runs[i].first - runs[0].first);
        return common;
    }

    bool verify_unequal(const std::vector<std::pair<std::uint64_t, std::uint64_t>>& runs) {
        found_.remarks.push_back(fmt::format("{} lines overflow together, and their distance does not divide the capacity: unequal sets or a hash", runs.size()));
        return false;
    }

    [[nodiscard]] Offsets spaced(std::uint64_t distance, std::uint64_t count, std::uint64_t shift = 0) const {
        Offsets offsets;
        for (std::uint64_t i = 0; i < count; ++i) offsets.push_back(i * distance + (i % 2 != 0 ? shift : 0));
        return offsets;
    }

    /// `ways` lines a way's size apart stay, one more does not.
    bool verify_ways(std::uint64_t way, std::uint64_t ways) {
        if ((ways + 2) * way > q_.largest) return false;
        return persistent_misses(spaced(way, ways), 4).empty() && overflow_share(spaced(way, ways + 1)) > 0;
    }
    double overflow_share(const Offsets& offsets) {
        const auto rates = miss_rates(offsets, 4, 8);
        return std::accumulate(rates.begin(), rates.end(), 0.0) / static_cast<double>(rates.size()) > 1.0 / (2.0 * static_cast<double>(offsets.size())) ? 1 : 0;
    }

    /// Every second of ways + 1 lines of one set is shifted: they stay one set until the shift reaches the line size.
    /// With one set only the lines never part, and a line is what one miss fills.
    std::uint64_t find_line(std::uint64_t way, std::uint64_t ways) {
        if (way == step()) return step();
        const std::uint64_t count = ways + 1 + (ways + 1) % 2;
        for (std::uint64_t line = q_.visible > q_.word ? q_.word : sector_; line < way; line *= 2)
            if (overflow_share(spaced(way, count, line)) == 0) return line;
        return way;
    }

    /// Words of several lines of one set in random order; each candidate policy predicts the hits and misses.
    void find_policy(std::uint64_t way, std::uint64_t ways, std::uint64_t line) {
        const std::uint64_t visits = std::min<std::uint64_t>(4, line / q_.word);
        std::uint64_t lines = ways + 2 + ways / 4;
        lines = std::min(lines, q_.largest / way);
        if (lines <= ways || visits < 2) {
            found_.remarks.push_back("a line is too short to be visited twice in a tour: the policy is not determined");
            return;
        }
        Offsets tour;
        for (std::uint64_t l = 0; l < lines; ++l)
            for (std::uint64_t v = 0; v < visits; ++v) tour.push_back(l * way + v * (line / visits));
        std::shuffle(tour.begin(), tour.end(), random_);
        constexpr std::uint32_t kWarm = 6, kRecorded = 12;
        const auto latencies = chase_({tour, kWarm, kRecorded}).latencies;
        if (latencies.size() < tour.size() * kRecorded) return;
        std::vector<std::uint32_t> walk;
        for (std::uint32_t lap = 0; lap < kWarm + kRecorded; ++lap)
            for (const auto offset : tour) walk.push_back(static_cast<std::uint32_t>(offset / way));
        for (const auto name : candidate_policies()) {
            const auto hits = predicted_hits(name, static_cast<std::uint32_t>(ways), walk);
            std::size_t right = 0;
            for (std::size_t i = 0; i < latencies.size(); ++i) right += hits[kWarm * tour.size() + i] == (latencies[i] <= q_.threshold) ? 1 : 0;
            found_.policy.agreement.emplace_back(name, static_cast<double>(right) / static_cast<double>(latencies.size()));
        }
        judge_policy(latencies, tour.size(), kRecorded);
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
