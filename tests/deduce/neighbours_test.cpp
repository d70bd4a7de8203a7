// Line size and prefetch of caches, from pairs of neighbouring loads.
#include "deduce/cache/levels/neighbours.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <list>
#include <random>

namespace gputomo::deduce {
namespace {

/// Fully associative, LRU; each miss brings its line and `ahead` further ones.
struct Prefetching {
    std::uint64_t line = 128, lines = 64, ahead = 0;
    double outliers = 0;  ///< share of readings that are slow for another reason

    [[nodiscard]] Chase chase() const {
        return [cache = *this](const ChaseRequest& request) {
            std::list<std::uint64_t> recent;
            std::mt19937 random(7);
            std::bernoulli_distribution slow(cache.outliers);
            const auto bring = [&](std::uint64_t line) {
                recent.remove(line);
                recent.push_front(line);
                if (recent.size() > cache.lines) recent.pop_back();
            };
            ChaseTrace trace;
            for (std::uint32_t pass = 0; pass < request.warm_passes + request.recorded_passes; ++pass)
                for (const auto offset : request.offsets) {
                    const std::uint64_t line = offset / cache.line;
                    const bool hit = std::ranges::find(recent, line) != recent.end();
                    for (std::uint64_t i = hit ? 0 : cache.ahead; i > 0; --i) bring(line + i);
                    bring(line);
                    if (pass >= request.warm_passes) trace.latencies.push_back(hit && !slow(random) ? 10 : 60);
                }
            return trace;
        };
    }
};

constexpr NeighbourQuestion kQuestion{
    .miss_threshold = 35, .granule = 64, .buffer_bytes = 96 * 1024, .max_pass_loads = 448, .longest_line = 1024};

TEST(Neighbours, FindLinesOfEachLength) {
    for (const std::uint64_t line : {128, 256, 512, 1024})
        EXPECT_EQ(find_neighbours(Prefetching{.line = line, .lines = 16}.chase(), kQuestion).line, line);
}

TEST(Neighbours, ReportTheGranuleForShorterLines) {
    for (const std::uint64_t line : {32, 64})
        EXPECT_EQ(find_neighbours(Prefetching{.line = line, .lines = 64}.chase(), kQuestion).line, 64U);
}

TEST(Neighbours, DistinguishAPrefetchFromTheLine) {
    const auto found = find_neighbours(Prefetching{.line = 128, .lines = 96, .ahead = 1}.chase(), kQuestion);
    EXPECT_EQ(found.line, 128U);
    EXPECT_EQ(found.prefetched, 128U);
    EXPECT_EQ(find_neighbours(Prefetching{.line = 128, .lines = 96}.chase(), kQuestion).prefetched, 0U);
}

TEST(Neighbours, FindHowFarAMissPrefetches) {
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

TEST(Neighbours, AreFoundDespiteOutliers) {
    const auto found =
        find_neighbours(Prefetching{.line = 256, .lines = 48, .ahead = 1, .outliers = 0.03}.chase(), kQuestion);
    EXPECT_EQ(found.line, 256U);
    EXPECT_EQ(found.prefetched, 256U);
}

TEST(Neighbours, ReportNothingWhereNoLoadMisses) {
    EXPECT_EQ(find_neighbours(Prefetching{.line = 128, .lines = 4096}.chase(), kQuestion).line, 0U);
}

TEST(Neighbours, ReportNothingWhereNeighboursOnBothSidesHit) {
    // The lines are longer than the longest that is asked for.
    EXPECT_EQ(find_neighbours(Prefetching{.line = 8192, .lines = 4}.chase(), kQuestion).line, 0U);
}

}  // namespace
}  // namespace gputomo::deduce
