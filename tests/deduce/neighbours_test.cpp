// Lines and what is fetched ahead, of caches that a chase only sees through single neighbours.
#include "deduce/cache/neighbours.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <list>
#include <random>

namespace gputomo::deduce {
namespace {

/// Fully associative, LRU; each miss brings its line and `ahead` further ones.
struct Prefetching {
    std::uint64_t line = 128, lines = 64, ahead = 0;
    double accidents = 0;  ///< share of readings that are slow for another reason

    [[nodiscard]] Chase chase() const {
        return [cache = *this](const ChaseRequest& request) {
            std::list<std::uint64_t> recent;
            std::mt19937 random(7);
            std::bernoulli_distribution slow(cache.accidents);
            const auto bring = [&](std::uint64_t line) {
                recent.remove(line);
                recent.push_front(line);
                if (recent.size() > cache.lines) recent.pop_back();
            };
            ChaseTrace trace;
            for (std::uint32_t lap = 0; lap < request.warm_passes + request.recorded_passes; ++lap)
                for (const auto offset : request.offsets) {
                    const std::uint64_t line = offset / cache.line;
                    const bool hit = std::ranges::find(recent, line) != recent.end();
                    for (std::uint64_t i = hit ? 0 : cache.ahead; i > 0; --i) bring(line + i);
                    bring(line);
                    if (lap >= request.warm_passes) trace.latencies.push_back(hit && !slow(random) ? 10 : 60);
                }
            return trace;
        };
    }
};

constexpr NeighbourQuestion kQuestion{
    .miss_threshold = 35, .granule = 64, .buffer_bytes = 96 * 1024, .max_pass_loads = 448, .longest_line = 1024};

TEST(Neighbours, TellLinesOfEachLength) {
    for (const std::uint64_t line : {128, 256, 512, 1024})
        EXPECT_EQ(find_neighbours(Prefetching{.line = line, .lines = 16}.chase(), kQuestion).line, line);
}

TEST(Neighbours, LinesNoLongerThanAPieceLookLikeOne) {
    for (const std::uint64_t line : {32, 64})
        EXPECT_EQ(find_neighbours(Prefetching{.line = line, .lines = 64}.chase(), kQuestion).line, 64U);
}

TEST(Neighbours, WhatIsFetchedAheadIsNoPartOfTheLine) {
    const auto found = find_neighbours(Prefetching{.line = 128, .lines = 96, .ahead = 1}.chase(), kQuestion);
    EXPECT_EQ(found.line, 128U);
    EXPECT_EQ(found.prefetched, 128U);
    EXPECT_EQ(find_neighbours(Prefetching{.line = 128, .lines = 96}.chase(), kQuestion).prefetched, 0U);
}

TEST(Neighbours, TellHowFarAheadIsFetched) {
    for (const std::uint64_t lines : {2, 5, 7})
        EXPECT_EQ(
            find_neighbours(Prefetching{.line = 128, .lines = 100, .ahead = lines}.chase(), {.miss_threshold = 35,
                                                                                             .granule = 128,
                                                                                             .buffer_bytes = 192 * 1024,
                                                                                             .max_pass_loads = 1544,
                                                                                             .longest_line = 1024})
                .prefetched,
            128 * lines);
}

TEST(Neighbours, AccidentsDoNotHideThem) {
    const auto found =
        find_neighbours(Prefetching{.line = 256, .lines = 48, .ahead = 1, .accidents = 0.03}.chase(), kQuestion);
    EXPECT_EQ(found.line, 256U);
    EXPECT_EQ(found.prefetched, 256U);
}

TEST(Neighbours, SayNothingOfACacheThatHoldsAll) {
    EXPECT_EQ(find_neighbours(Prefetching{.line = 128, .lines = 4096}.chase(), kQuestion).line, 0U);
}

TEST(Neighbours, SayNothingWhereBothSidesAreThere) {
    // Lines longer than any that was asked for.
    EXPECT_EQ(find_neighbours(Prefetching{.line = 8192, .lines = 4}.chase(), kQuestion).line, 0U);
}

}  // namespace
}  // namespace gputomo::deduce
