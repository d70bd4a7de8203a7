// Which SMs clusters join.
#include "deduce/series/cluster_groups.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gputomo::deduce {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(ClusterGroups, JoinSmsThatBlocksOfOneClusterUsed) {
    ClusterGroups groups(8);
    groups.add(1, 0, 0), groups.add(1, 0, 1);
    groups.add(1, 1, 2), groups.add(1, 1, 3);
    EXPECT_THAT(groups.sizes(), ElementsAre(2, 2));
    // A cluster of another launch joins both.
    groups.add(2, 5, 1), groups.add(2, 5, 3);
    groups.add(2, 6, 4), groups.add(2, 6, 6);
    EXPECT_THAT(groups.sizes(), ElementsAre(4, 2));
    EXPECT_EQ(groups.seen(), 6U);
}

TEST(ClusterGroups, ClustersOfDifferentLaunchesWithOneNumberAreNotOne) {
    ClusterGroups groups(4);
    groups.add(1, 0, 0);
    groups.add(2, 0, 1);
    EXPECT_THAT(groups.sizes(), IsEmpty());
    EXPECT_EQ(groups.seen(), 2U);
}

TEST(ClusterGroups, SmsBeyondThoseOfTheGpuAreLeftOut) {
    ClusterGroups groups(2);
    groups.add(1, 0, 0), groups.add(1, 0, 7), groups.add(1, 0, 1);
    EXPECT_THAT(groups.sizes(), ElementsAre(2));
}

}  // namespace
}  // namespace gputomo::deduce
