// Pseudo-LRU trees learnt from the ways that they evict.
#include "deduce/cache/policy/way_tree.hpp"

#include "caches/simulated_cache.hpp"

#include <gtest/gtest.h>

#include <set>

namespace gputomo::deduce::cache {
namespace {

using testing::draw_victim;

/// Uses of random ways, and evictions of the victims.
std::vector<Step> steps_of(PolicyModel& model, std::uint32_t ways, std::size_t count) {
    std::mt19937_64 random(3);
    std::vector<Step> steps;
    for (std::size_t i = 0; i < count; ++i) {
        const bool evict = random() % 3 == 0;
        const auto way = evict ? draw_victim(model, ways, random) : static_cast<std::uint32_t>(random() % ways);
        evict ? model.fill(way) : model.touch(way);
        steps.push_back({i, way, evict});
    }
    return steps;
}

/// The groups of ways below the nodes, whatever their order.
std::set<std::set<std::uint32_t>> groups_of(const WayTree& tree) {
    std::set<std::set<std::uint32_t>> groups;
    for (const auto& node : tree.nodes) groups.emplace(node.ways.begin(), node.ways.end());
    return groups;
}

TEST(WayTree, IsLearntFromItsVictims) {
    for (const std::uint32_t ways : {2U, 4U, 5U, 8U, 16U}) {
        const auto model = make_tree_model(binary_tree(ways));
        const auto steps = steps_of(*model, ways, 6000);
        EXPECT_EQ(groups_of(learn_tree(steps, 0, steps.size(), ways)), groups_of(binary_tree(ways))) << ways;
    }
}

TEST(WayTree, AnyOrderOfTheWaysIsFound) {
    WayTree tree = binary_tree(4);
    const std::uint32_t order[] = {2, 0, 3, 1};
    for (auto& node : tree.nodes)
        for (auto& way : node.ways) way = order[way];
    const auto model = make_tree_model(tree);
    const auto steps = steps_of(*model, 4, 2000);
    EXPECT_EQ(groups_of(learn_tree(steps, 0, steps.size(), 4)),
              (std::set<std::set<std::uint32_t>>{{0, 1, 2, 3}, {0, 2}, {1, 3}, {0}, {1}, {2}, {3}}));
}

TEST(WayTree, RandomVictimsShowNoTree) {
    const auto model = make_model("random", 8);
    const auto steps = steps_of(*model, 8, 6000);
    EXPECT_EQ(learn_tree(steps, 0, steps.size(), 8).nodes.size(), 1U);
}

TEST(WayTree, OnlyStepsInTheRangeCount) {
    const auto model = make_tree_model(binary_tree(4));
    const auto steps = steps_of(*model, 4, 2000);
    EXPECT_EQ(learn_tree(steps, 2000, 4000, 4).nodes.size(), 1U);
}

}  // namespace
}  // namespace gputomo::deduce::cache
