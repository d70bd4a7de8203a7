// From the atomics of a few blocks to those of the grid.
#include "launch/profile/atomic_sectors.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace gputomo::launch {
namespace {

AtomicsOfBlock requests(std::initializer_list<std::pair<const std::uint64_t, double>> of) { return {.requests = of}; }

double of_sector(const LaunchProfile& profile, std::uint64_t sector) {
    const auto found = std::ranges::find(profile.atomic_sectors, sector, &AtomicSector::sector);
    return found == profile.atomic_sectors.end() ? 0 : found->requests;
}

LaunchProfile filled(AtomicSectors& sectors, std::uint64_t blocks) {
    LaunchProfile profile;
    profile.blocks = blocks;
    sectors.fill(profile);
    return profile;
}

TEST(AtomicSectors, ASectorOfAllSampledBlocksIsOneOfAllBlocks) {
    AtomicSectors sectors;
    for (const std::uint64_t block : {0U, 37U, 50U, 99U}) sectors.add(block, requests({{7, 2}}));
    const auto profile = filled(sectors, 100);
    EXPECT_DOUBLE_EQ(of_sector(profile, 7), 200);
    EXPECT_DOUBLE_EQ(profile.scattered_atomics, 0);
}

TEST(AtomicSectors, ASectorOfHalfTheBlocksIsOneOfHalfTheGrid) {
    AtomicSectors sectors;
    for (std::uint64_t block = 0; block < 100; block += 10)
        sectors.add(block, block % 20 == 0 ? requests({{7, 1}}) : requests({}));
    EXPECT_NEAR(of_sector(filled(sectors, 100), 7), 50, 6);
}

TEST(AtomicSectors, SectorsOfTheirOwnAreScattered) {
    AtomicSectors sectors;
    for (const std::uint64_t block : {0U, 37U, 50U, 99U}) sectors.add(block, requests({{100 + block, 8}}));
    const auto profile = filled(sectors, 100);
    EXPECT_DOUBLE_EQ(of_sector(profile, 137), 8);
    EXPECT_DOUBLE_EQ(profile.scattered_atomics, 800 - 32);
}

TEST(AtomicSectors, NeighboursThatShareASectorDoNotMakeItOneOfTheGrid) {
    AtomicSectors sectors;
    for (const std::uint64_t block : {0U, 1U, 2U, 3U, 500U, 501U, 999U}) sectors.add(block, requests({{block / 4, 1}}));
    const auto profile = filled(sectors, 1000);
    EXPECT_NEAR(of_sector(profile, 0), 4, 0.1);
    EXPECT_NEAR(profile.scattered_atomics, 1000 - 7, 1);
}

TEST(AtomicSectors, AllBlocksAreCountedAsTheyAre) {
    AtomicSectors sectors;
    for (std::uint64_t block = 0; block < 4; ++block) sectors.add(block, requests({{block == 3 ? 9U : 7U, 5}}));
    const auto profile = filled(sectors, 4);
    EXPECT_DOUBLE_EQ(of_sector(profile, 7), 15);
    EXPECT_DOUBLE_EQ(of_sector(profile, 9), 5);
    EXPECT_DOUBLE_EQ(profile.scattered_atomics, 0);
}

TEST(AtomicSectors, SwapsMeetThoseOfOtherWarpsAndBlocks) {
    AtomicSectors sectors;
    AtomicsOfBlock first, second;
    first.swapped[64] = {.warp = 0, .swaps = 3};
    first.swapped_shared[0] = {.warp = 0, .swaps = 2, .met = true};
    second.swapped[64] = {.warp = 0, .swaps = 3};
    second.swapped[128] = {.warp = 0, .swaps = 2};
    sectors.add(0, first);
    sectors.add(1, second);
    EXPECT_DOUBLE_EQ(filled(sectors, 2).met_swaps, 0.8);
}

TEST(AtomicSectors, WithoutAtomicsNothingIsFilledIn) {
    AtomicSectors sectors;
    sectors.add(0, {});
    const auto profile = filled(sectors, 10);
    EXPECT_TRUE(profile.atomic_sectors.empty());
    EXPECT_EQ(profile.met_swaps, 0);
}

}  // namespace
}  // namespace gputomo::launch
