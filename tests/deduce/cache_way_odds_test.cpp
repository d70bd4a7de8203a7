// Odds of single ways of a set that evicts at random.
#include "deduce/cache/policy/way_odds.hpp"

#include "caches/simulated_cache.hpp"

#include <gtest/gtest.h>

#include <numeric>

namespace gputomo::deduce::cache {
namespace {

WayOdds odds_from(const std::vector<double>& odds, std::size_t loads) {
    const auto ways = static_cast<std::uint32_t>(odds.size());
    return odds_of_ways({testing::trace_of(*make_odds_model(odds), ways, testing::random_lines(ways, loads))}, ways,
                        0.001);
}

TEST(WayOdds, AreThoseOfFermisL1) {
    // Mei 2014, 4.1: one of four ways is the victim in half of the cases.
    const auto found = odds_from({1.0 / 6, 0.5, 1.0 / 6, 1.0 / 6}, 30'000);
    ASSERT_EQ(found.by_rank.size(), 4U);
    EXPECT_NEAR(found.by_rank[0], 0.5, 0.02);
    for (std::size_t i = 1; i < 4; ++i) EXPECT_EQ(found.by_rank[i], found.by_rank[1]) << "equal ways share their odds";
    EXPECT_NEAR(std::accumulate(found.by_rank.begin(), found.by_rank.end(), 0.0), 1, 1e-12);
    EXPECT_GT(found.confidence, 0.99);
}

TEST(WayOdds, EqualWaysHaveNone) { EXPECT_TRUE(odds_from(std::vector<double>(4, 0.25), 30'000).by_rank.empty()); }

TEST(WayOdds, FewVictimsShowNone) { EXPECT_TRUE(odds_from({0.7, 0.1, 0.1, 0.1}, 100).by_rank.empty()); }

}  // namespace
}  // namespace gputomo::deduce::cache
