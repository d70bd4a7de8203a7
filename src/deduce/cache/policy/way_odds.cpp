#include "deduce/cache/policy/way_odds.hpp"

#include "units/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <span>
#include <utility>

namespace gputomo::deduce::cache {
namespace {

/// Victims of each way, on average, from which odds are counted. With 12 a way's odds are known to about 30%.
constexpr double kMinOddsVictims = 12;
/// Loads, as a multiple of the square of the ways, from which the first odds are counted. With more ways, a way of
/// special odds is exchanged with others more rarely.
constexpr std::size_t kFirstLoads = 15;
/// Odds and interpretations refine each other up to `kRefinements` times, or until no odds change by `kUnchanged`.
constexpr int kRefinements = 6;
constexpr double kUnchanged = 0.001;
/// Odds differ if the largest is at least this many times the smallest. Smaller differences arise from interpretations
/// that fit them.
constexpr double kMinFactor = 1.15;
/// Ways differ if unequal odds explain their victims 50 times better, as a logarithm.
const double kBetterOdds = std::log(50.0);

/// Replaces counts, largest first, by the means of groups that differ. Returns the log likelihood that this gains over
/// equal odds, minus the cost of the groups (Schwarz 1978) and of choosing where to cut.
double pool_equal_ways(std::span<double> counts) {
    const auto size = static_cast<double>(counts.size());
    const double total = std::accumulate(counts.begin(), counts.end(), 0.0);
    const auto likelihood = [](double sum, double ways) { return sum > 0 ? sum * std::log(sum / ways) : 0; };
    double best = 0, head = 0;
    std::size_t cut = 0;
    for (std::size_t i = 1; i < counts.size(); ++i) {
        head += counts[i - 1];
        const double gain = likelihood(head, static_cast<double>(i)) +
                            likelihood(total - head, size - static_cast<double>(i)) - likelihood(total, size) -
                            std::log(total) / 2 - 2 * std::log(size);
        if (gain > best) best = gain, cut = i;
    }
    if (cut > 0) return best + pool_equal_ways(counts.first(cut)) + pool_equal_ways(counts.subspan(cut));
    std::fill(counts.begin(), counts.end(), total / size);
    return 0;
}

/// Ways whose counts may differ at random share their victims.
std::vector<double> pooled(const std::vector<double>& counts) {
    std::vector<std::size_t> order(counts.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, std::greater<>(), [&](std::size_t way) { return counts[way]; });
    std::vector<double> sorted;
    for (const auto way : order) sorted.push_back(counts[way]);
    pool_equal_ways(sorted);
    std::vector<double> result(counts.size());
    for (std::size_t i = 0; i < order.size(); ++i) result[order[i]] = sorted[i];
    return result;
}

/// Converts counts to odds none of which is 0.
std::vector<double> odds_from(std::vector<double> counts) {
    const double sum = std::accumulate(counts.begin(), counts.end(), 0.0) + static_cast<double>(counts.size());
    for (auto& count : counts) count = (count + 1) / sum;
    return counts;
}

std::vector<double> count_victims(const std::vector<Step>& steps, std::uint32_t ways, std::size_t end) {
    std::vector<double> counts(ways, 0);
    for (const auto& step : steps)
        if (step.evicted && step.load < end) ++counts[step.way];
    return counts;
}

struct Counted {
    std::vector<double> victims;  ///< by way
    double gain = 0;              ///< log likelihood of the second half that odds from these counts gain over chance
};

/// Slow loads that may be outliers or misses leave open which of two ways a line is in. Once odds are known, the
/// victims before and after decide it. The first odds come from a piece with few such loads, the next ones from the
/// whole segment. If such loads were misread to fit the odds, the odds explain no more than chance.
Counted victims_by_way(const TraceSegment& segment, std::uint32_t ways, double outlier_rate) {
    const std::size_t all = segment.lines.size();
    const auto any = explain(segment, ways, *make_odds_model(std::vector<double>(ways, 1.0 / ways)), outlier_rate);
    Counted counted{count_victims(any.steps, ways, std::max(any.unsure, kFirstLoads * ways * ways))};
    auto odds = odds_from(any.unsure < all ? counted.victims : pooled(counted.victims));
    for (int i = 0; i < kRefinements && odds != std::vector<double>(ways, odds.front()); ++i) {
        const auto with_odds = explain(segment, ways, *make_odds_model(odds), outlier_rate);
        counted = {count_victims(with_odds.steps, ways, all), with_odds.likelihood - any.likelihood};
        const auto before = std::exchange(odds, odds_from(pooled(counted.victims)));
        if (std::ranges::equal(before, odds, [](double a, double b) { return std::abs(a - b) < kUnchanged; })) break;
    }
    return counted;
}

}  // namespace

WayOdds odds_of_ways(const std::vector<TraceSegment>& segments, std::uint32_t ways, double outlier_rate) {
    std::vector<std::vector<double>> by_rank(ways);
    double gain = 0, total = 0;
    for (const auto& segment : segments) {
        auto [counts, shown] = victims_by_way(segment, ways, outlier_rate);
        const double here = std::accumulate(counts.begin(), counts.end(), 0.0);
        if (here < kMinOddsVictims * ways) continue;
        std::sort(counts.begin(), counts.end(), std::greater<>());
        gain += std::min(pool_equal_ways(counts), shown);
        total += here;
        for (std::uint32_t i = 0; i < ways; ++i) by_rank[i].push_back(counts[i] / here);
    }
    WayOdds result;
    if (by_rank[0].empty() || gain < kBetterOdds) return result;
    for (auto& shares : by_rank) result.by_rank.push_back(median(shares));
    const double sum = std::accumulate(result.by_rank.begin(), result.by_rank.end(), 0.0);
    for (auto& odds : result.by_rank) odds /= sum;
    if (result.by_rank.front() < kMinFactor * result.by_rank.back()) return {};
    result.confidence = (total + 1) / (total + 2) / (1 + std::exp(-gain));
    return result;
}

}  // namespace gputomo::deduce::cache
