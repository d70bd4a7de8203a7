// Behaviours 500 to 599: block barriers alone.
#include "sim/sm/units/barriers.hpp"

#include <gtest/gtest.h>

namespace gputomo::sim {
namespace {

constexpr BarrierSpec kByWarp{.latency = 20};
constexpr BarrierSpec kByThread{.latency = 20, .counts_threads = true};

TEST(Barriers501, TheLastArrivingWarpReleasesAllAfterTheLatency) {
    Barrier barrier;
    const LiveCount live{.warps = 3, .threads = 96};
    arrive(kByWarp, barrier, 32, 100);
    EXPECT_FALSE(release_if_complete(kByWarp, barrier, live));
    arrive(kByWarp, barrier, 32, 150);
    EXPECT_FALSE(release_if_complete(kByWarp, barrier, live));
    arrive(kByWarp, barrier, 32, 120);
    const auto release = release_if_complete(kByWarp, barrier, live);
    ASSERT_TRUE(release);
    EXPECT_EQ(release->when, 170) << "20 cycles after the latest arrival";
}

TEST(Barriers502, AReleaseResetsTheBarrier) {
    Barrier barrier;
    arrive(kByWarp, barrier, 32, 100);
    ASSERT_TRUE(release_if_complete(kByWarp, barrier, {.warps = 1, .threads = 32}));
    EXPECT_FALSE(release_if_complete(kByWarp, barrier, {.warps = 1, .threads = 32}));
    arrive(kByWarp, barrier, 32, 90);
    EXPECT_EQ(release_if_complete(kByWarp, barrier, {.warps = 1, .threads = 32})->when, 110)
        << "the arrival before the reset is forgotten";
}

TEST(Barriers503, AWarpArrivesAsAWholeWhereWarpsAreCounted) {
    Barrier barrier;
    arrive(kByWarp, barrier, 16, 100);
    EXPECT_TRUE(release_if_complete(kByWarp, barrier, {.warps = 1, .threads = 32}));
}

TEST(Barriers504, EveryThreadHasToArriveWhereThreadsAreCounted) {
    Barrier barrier;
    arrive(kByThread, barrier, 16, 100);
    EXPECT_FALSE(release_if_complete(kByThread, barrier, {.warps = 1, .threads = 32}));
    arrive(kByThread, barrier, 16, 130);
    EXPECT_EQ(release_if_complete(kByThread, barrier, {.warps = 1, .threads = 32})->when, 150);
}

TEST(Barriers505, AWarpThatEndsReleasesThoseThatWaitForIt) {
    Barrier barrier;
    arrive(kByWarp, barrier, 32, 100);
    EXPECT_FALSE(release_if_complete(kByWarp, barrier, {.warps = 2, .threads = 64}));
    EXPECT_EQ(release_if_complete(kByWarp, barrier, {.warps = 1, .threads = 32})->when, 120);
}

TEST(Barriers506, ABarrierOfSomeThreadsIgnoresTheRestOfTheBlock) {
    Barrier barrier;
    EXPECT_EQ(expect_threads(kByWarp, barrier, 64), "");
    arrive(kByWarp, barrier, 32, 100);
    EXPECT_FALSE(release_if_complete(kByWarp, barrier, {}));
    arrive(kByWarp, barrier, 32, 110);
    EXPECT_EQ(release_if_complete(kByWarp, barrier, {})->when, 130);
}

TEST(Barriers507, WrongThreadCountsAreRefused) {
    Barrier barrier;
    EXPECT_EQ(expect_threads(kByWarp, barrier, 40), "40 threads asked; expected a multiple of 32");
    EXPECT_EQ(expect_threads(kByWarp, barrier, 0), "0 threads asked; expected a multiple of 32");
    EXPECT_EQ(expect_threads(kByWarp, barrier, 64), "");
    arrive(kByWarp, barrier, 32, 100);
    EXPECT_EQ(expect_threads(kByWarp, barrier, 96),
              "96 threads asked while others wait there for another number of threads");
}

TEST(Barriers508, VotesAreHandedOn) {
    Barrier barrier;
    arrive(kByWarp, barrier, 32, 100);
    barrier.votes = 5;
    barrier.voters = 32;
    const auto release = release_if_complete(kByWarp, barrier, {.warps = 1, .threads = 32});
    EXPECT_EQ(release->votes, 5U);
    EXPECT_EQ(release->voters, 32U);
}

}  // namespace
}  // namespace gputomo::sim
