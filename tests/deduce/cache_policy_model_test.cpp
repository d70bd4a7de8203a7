// Which way each policy evicts next.
#include "deduce/cache/policy/policy_model.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace gputomo::deduce {
namespace {

using Odds = std::vector<double>;

Odds odds_of(const PolicyModel& model, std::uint32_t ways) {
    Odds odds;
    for (std::uint32_t way = 0; way < ways; ++way) odds.push_back(model.odds(way));
    return odds;
}

/// The model after lines were filled into ways 0, 1, 2, ... in this order.
std::unique_ptr<PolicyModel> filled(std::string_view policy, std::uint32_t ways) {
    auto model = make_model(policy, ways);
    for (std::uint32_t way = 0; way < ways; ++way) model->fill(way);
    return model;
}

TEST(PolicyModel, LruEvictsTheWayUsedLongestAgo) {
    const auto model = filled("lru", 4);
    EXPECT_EQ(odds_of(*model, 4), (Odds{1, 0, 0, 0}));
    model->touch(0);
    EXPECT_EQ(odds_of(*model, 4), (Odds{0, 1, 0, 0}));
}

TEST(PolicyModel, FifoIgnoresUses) {
    const auto model = filled("fifo", 4);
    model->touch(0);
    EXPECT_EQ(odds_of(*model, 4), (Odds{1, 0, 0, 0}));
    model->fill(0);
    EXPECT_EQ(odds_of(*model, 4), (Odds{0, 1, 0, 0}));
}

TEST(PolicyModel, RandomEvictsAnyWay) {
    EXPECT_EQ(odds_of(*filled("random", 4), 4), (Odds{0.25, 0.25, 0.25, 0.25}));
    EXPECT_EQ(odds_of(*make_odds_model({0.5, 0.25, 0.25}), 3), (Odds{0.5, 0.25, 0.25}));
}

TEST(PolicyModel, BitPlruResetsAllBitsButTheLastWhenAllWaysAreUsed) {
    const auto model = filled("bit-plru", 4);
    EXPECT_NEAR(model->odds(0), 1.0 / 3, 1e-12) << "only way 3 is used";
    EXPECT_EQ(model->odds(3), 0);
    model->touch(0);
    model->touch(2);
    EXPECT_EQ(odds_of(*model, 4), (Odds{0, 1, 0, 0}));
}

TEST(PolicyModel, NruResetsTheBitsWhenItNeedsAVictim) {
    const auto model = filled("nru", 4);
    EXPECT_EQ(odds_of(*model, 4), (Odds{0.25, 0.25, 0.25, 0.25})) << "all are used, so any may go";
    model->fill(2);
    EXPECT_EQ(model->odds(2), 0);
    EXPECT_NEAR(model->odds(0), 1.0 / 3, 1e-12);
}

TEST(PolicyModel, RripAgesAllWaysUntilOneIsDistant) {
    const auto model = filled("srrip", 4);
    model->touch(1);
    EXPECT_NEAR(model->odds(0), 1.0 / 3, 1e-12) << "intervals 2, 0, 2, 2";
    EXPECT_EQ(model->odds(1), 0);
    model->fill(0);
    EXPECT_EQ(odds_of(*model, 4), (Odds{0, 0, 0.5, 0.5})) << "intervals 2, 1, 3, 3";
    EXPECT_NEAR(filled("brrip", 4)->odds(3), 0.25, 1e-12) << "a new line is distant";
}

TEST(PolicyModel, SegmentedLruProtectsHalfOfTheWays) {
    const auto model = filled("slru", 4);
    model->touch(0);
    model->touch(1);
    EXPECT_EQ(odds_of(*model, 4), (Odds{0, 0, 1, 0})) << "the oldest on probation";
    model->touch(2);
    // Way 0, protected longest, is on probation again, but as the newest.
    EXPECT_EQ(odds_of(*model, 4), (Odds{0, 0, 0, 1}));
    model->touch(3);
    EXPECT_EQ(odds_of(*model, 4), (Odds{1, 0, 0, 0}));
}

TEST(PolicyModel, TreePlruPointsAwayFromTheLastUse) {
    const auto model = make_tree_model(binary_tree(4));
    EXPECT_EQ(odds_of(*model, 4), (Odds{0.25, 0.25, 0.25, 0.25}));
    for (const std::uint32_t way : {0, 2, 1}) model->touch(way);
    // The root points to ways 2 and 3, of which 2 was used last.
    EXPECT_EQ(odds_of(*model, 4), (Odds{0, 0, 0, 1}));
    model->touch(3);
    EXPECT_EQ(odds_of(*model, 4), (Odds{1, 0, 0, 0}));
}

TEST(PolicyModel, ATreeOfFiveWaysHasNoEmptyBranches) {
    const auto tree = binary_tree(5);
    EXPECT_EQ(tree.nodes.size(), 9U);
    EXPECT_EQ(tree.nodes.front().ways, (std::vector<std::uint32_t>{0, 1, 2, 3, 4}));
    const auto& root = tree.nodes.front();
    EXPECT_EQ(tree.nodes[static_cast<std::size_t>(root.halves[0])].ways, (std::vector<std::uint32_t>{0, 1, 2, 3}));
    EXPECT_EQ(tree.nodes[static_cast<std::size_t>(root.halves[1])].ways, (std::vector<std::uint32_t>{4}));
}

TEST(PolicyModel, AWayOrderDecidesTies) {
    const auto model = make_model("nru", 4);
    ASSERT_TRUE(model->ties());
    model->set_way_order({3, 1, 0, 2});
    EXPECT_GT(model->odds(2), 0.8);
    model->touch(2);
    EXPECT_GT(model->odds(1), 0.8);
    EXPECT_EQ(model->odds(2), 0);
    EXPECT_FALSE(make_model("lru", 4)->ties());
}

TEST(PolicyModel, AClonedModelGoesItsOwnWay) {
    const auto model = filled("lru", 3);
    const auto copy = model->clone();
    copy->touch(0);
    EXPECT_EQ(model->odds(0), 1);
    EXPECT_EQ(copy->odds(0), 0);
    EXPECT_NE(model->state(), copy->state());
}

TEST(PolicyModel, StatesOfEqualOrderAreEqual) {
    const auto one = filled("lru", 3), other = filled("lru", 3);
    one->touch(2);
    EXPECT_EQ(one->state(), other->state()) << "the last way was used again";
}

TEST(PolicyModel, UnknownNamesAreRefused) {
    EXPECT_THROW(static_cast<void>(make_model("clairvoyant", 4)), std::invalid_argument);
    for (const auto name : candidate_policies()) EXPECT_NE(make_model(name, 4), nullptr) << name;
}

TEST(EquivalentPolicies, AreTheSameInSetsOfTwoWaysOnly) {
    EXPECT_TRUE(equivalent_policies("lru", "tree-plru", 2));
    EXPECT_FALSE(equivalent_policies("lru", "tree-plru", 4));
    EXPECT_TRUE(equivalent_policies("lru", "lru", 64));
    EXPECT_FALSE(equivalent_policies("lru", "fifo", 2));
}

}  // namespace
}  // namespace gputomo::deduce
