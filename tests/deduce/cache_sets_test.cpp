// Ways of all sets, and predictions about unseen groups of lines.
#include "deduce/cache/sets/sets.hpp"

#include "caches/simulated_cache.hpp"

#include <gtest/gtest.h>

namespace gputomo::deduce::cache {
namespace {

using testing::CacheTruth;
using testing::SimulatedCache;

Index modulo(const CacheTruth& truth, const Probe& probe) {
    return Index::modulo(truth.sets, truth.line, probe.address(), probe.span());
}

TEST(SetWays, OfEqualSetsAreTheExpectedOnes) {
    const CacheTruth truth;
    SimulatedCache cache(truth);
    const auto chase = cache.chase();
    const Probe probe(chase, truth.question());
    const auto found = find_set_ways(probe, modulo(truth, probe), 4);
    EXPECT_TRUE(found.every_set);
    EXPECT_EQ(found.ways, std::vector<std::uint64_t>(16, 4));
}

TEST(SetWays, OfUnequalSetsAreMeasuredOneByOne) {
    const CacheTruth truth{.sets = 5, .ways = 8, .set_ways = {8, 3, 8, 11, 8}};
    SimulatedCache cache(truth);
    const auto chase = cache.chase();
    const Probe probe(chase, truth.question());
    EXPECT_EQ(find_set_ways(probe, modulo(truth, probe), 8).ways, (std::vector<std::uint64_t>{8, 3, 8, 11, 8}));
}

TEST(SetWays, NeedMoreLinesOfASetThanItHasWays) {
    const CacheTruth truth;
    SimulatedCache cache(truth);
    const auto chase = cache.chase();
    const Probe probe(chase, truth.question());
    EXPECT_TRUE(find_set_ways(probe, Index::modulo(16, 64, 0, 4 * 16 * 64), 4).ways.empty());
}

TEST(Predictions, OfTheRightGeometryAllHold) {
    const CacheTruth truth;
    SimulatedCache cache(truth);
    const auto chase = cache.chase();
    const Probe probe(chase, truth.question());
    std::vector<std::uint64_t> ways(16, 4);
    const auto trials = predict_groups(probe, modulo(truth, probe), ways);
    EXPECT_GE(trials.made, 24);
    EXPECT_EQ(trials.agreed, trials.made);
    EXPECT_EQ(trials.doubts, 0);
    const auto all_sets = predict_groups_of_all_sets(probe, modulo(truth, probe), 4);
    EXPECT_GE(all_sets.made, 6 * 16);
    EXPECT_EQ(all_sets.agreed, all_sets.made);
}

TEST(Predictions, OfAWrongGeometryFail) {
    const CacheTruth truth;
    SimulatedCache cache(truth);
    const auto chase = cache.chase();
    const Probe probe(chase, truth.question());
    // Half the sets with twice the ways have the right capacity.
    std::vector<std::uint64_t> ways(8, 8);
    const auto trials = predict_groups(probe, Index::modulo(8, 64, probe.address(), probe.span()), ways);
    EXPECT_LT(trials.share(), 0.9);
}

TEST(Predictions, ASetWithMoreWaysThanThoughtIsMeasuredAgain) {
    const CacheTruth truth;
    SimulatedCache cache(truth);
    const auto chase = cache.chase();
    const Probe probe(chase, truth.question());
    std::vector<std::uint64_t> ways(16, 4);
    ways[0] = 3;
    const auto trials = predict_groups(probe, modulo(truth, probe), ways);
    EXPECT_EQ(ways[0], 4U);
    EXPECT_EQ(trials.doubts, 1);
    EXPECT_LT(trials.confidence(), trials.share());
}

TEST(Trials, FollowLaplacesRule) {
    EXPECT_EQ((Trials{.agreed = 98, .made = 98}).share(), 0.99);
    EXPECT_EQ(Trials{}.share(), 0);
    EXPECT_DOUBLE_EQ((Trials{.agreed = 98, .made = 98, .doubts = 2}).confidence(), 0.891);
    EXPECT_TRUE((Trials{.agreed = 15, .made = 24}).hopeless());
    EXPECT_FALSE((Trials{.agreed = 16, .made = 24}).hopeless());
    EXPECT_FALSE((Trials{.agreed = 0, .made = 23}).hopeless());
}

}  // namespace
}  // namespace gputomo::deduce::cache
