#include "deduce/pipeline/fetch_blocks.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace gputomo::deduce {
namespace {

using Kernels = std::vector<std::vector<FetchSample>>;

/// Samples every `step` instructions; a warp waits for those at the start of a block of `size` bytes.
std::vector<FetchSample> places(std::uint64_t unit, std::uint64_t step, std::uint64_t size, std::uint64_t first) {
    std::vector<FetchSample> all;
    for (std::uint64_t i = 0; i < 96; ++i) {
        const std::uint64_t offset = first + i * step * unit;
        all.push_back({offset, offset % size == 0});
    }
    return all;
}

TEST(FetchBlocks, FindsTheSizeFromSamplesOfSeveralSpacings) {
    for (const std::uint64_t size : {32, 64, 96, 128, 256}) {
        const auto found =
            fetch_blocks(Kernels{places(8, 5, size, 104), places(8, 6, size, 416), places(8, 7, size, 32)}, 8);
        EXPECT_EQ(found.sizes, std::vector<std::uint64_t>{size});
        EXPECT_EQ(found.explained, 288U);
        EXPECT_LT(found.runner_up, 288U);
    }
}

TEST(FetchBlocks, KeepsAllSizesThatOneSpacingCannotDistinguish) {
    const auto found = fetch_blocks(Kernels{places(8, 5, 64, 104)}, 8);
    EXPECT_EQ(found.sizes, (std::vector<std::uint64_t>{64, 320}));
}

TEST(FetchBlocks, ReportsNoSizeIfNoWarpWaits) {
    auto none = places(8, 5, 64, 104);
    for (auto& place : none) place.waited = false;
    EXPECT_TRUE(fetch_blocks(Kernels{none}, 8).sizes.empty());
}

TEST(FetchBlocks, ReportsNoSizeIfAFewWaitsLieAnywhere) {
    // An H200 shows such waits: the last steps wait for other warps to exit.
    auto kernels = Kernels{places(16, 5, 128, 64), places(16, 6, 128, 16), places(16, 7, 128, 160)};
    for (auto& kernel : kernels)
        for (auto& place : kernel) place.waited = false;
    for (const std::size_t at : {90, 91, 94}) kernels[0][at].waited = true;
    kernels[1][95].waited = true;
    EXPECT_TRUE(fetch_blocks(kernels, 16).sizes.empty());
}

/// Prefetched code: a warp waits at about every third start of a block.
std::vector<FetchSample> prefetched(std::uint64_t block, std::size_t count) {
    std::vector<FetchSample> places;
    for (std::size_t i = 0; i < count; ++i) places.push_back({16 * i, 16 * i % block == 0 && i % 3 == 0});
    return places;
}

TEST(LargestBlockOfWaits, NeedsWaitsAtOnlySomeStarts) {
    for (const std::uint64_t block : {64, 128, 256})
        EXPECT_EQ(largest_block_of_waits(prefetched(block, 4000), 16), block);
}

TEST(LargestBlockOfWaits, SurvivesAnOutlier) {
    auto places = prefetched(128, 4000);
    places[1001].waited = true;
    EXPECT_EQ(largest_block_of_waits(places, 16), 128U);
}

TEST(LargestBlockOfWaits, IsZeroForFewOrScatteredWaits) {
    EXPECT_EQ(largest_block_of_waits(prefetched(128, 200), 16), 0U);
    auto places = prefetched(128, 4000);
    for (std::size_t i = 5; i < places.size(); i += 10) places[i].waited = true;
    EXPECT_EQ(largest_block_of_waits(places, 16), 0U);
}

TEST(FetchBlocks, SurvivesOutliers) {
    auto kernels = Kernels{places(16, 5, 128, 64), places(16, 6, 128, 16), places(16, 7, 128, 160)};
    for (const std::size_t at : {3, 40, 77}) kernels[at % 3][at].waited = !kernels[at % 3][at].waited;
    const auto found = fetch_blocks(kernels, 16);
    EXPECT_EQ(found.sizes, std::vector<std::uint64_t>{128});
    EXPECT_EQ(found.explained, 285U);
}

}  // namespace
}  // namespace gputomo::deduce
