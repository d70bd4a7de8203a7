// Sector and line of caches that are known exactly.
#include "deduce/cache/sets/line.hpp"

#include "caches/simulated_cache.hpp"

#include <gtest/gtest.h>

namespace gputomo::deduce::cache {
namespace {

using testing::CacheTruth;
using testing::SimulatedCache;

TEST(CacheLine, OneMissFillsASectorNotTheWholeLine) {
    for (const std::uint64_t sector : {32, 64, 128}) {
        const CacheTruth truth{.line = 128, .sector = sector};
        SimulatedCache cache(truth);
        const auto chase = cache.chase();
        const auto found = find_sector(Probe(chase, truth.question()));
        EXPECT_EQ(found.bytes, sector);
        EXPECT_EQ(found.agreement, 1);
    }
}

TEST(CacheLine, NothingMissesInACacheThatHoldsAll) {
    const CacheTruth truth;
    SimulatedCache large({.sets = 16384});
    const auto chase = large.chase();
    EXPECT_EQ(find_sector(Probe(chase, truth.question())).agreement, 0);
}

TEST(CacheLine, NeighboursShareAWayUpToTheLinesEnd) {
    for (const std::uint64_t line : {64, 128, 256}) {
        const CacheTruth truth{.line = line, .sector = 32};
        SimulatedCache cache(truth);
        const auto chase = cache.chase();
        EvictionSet set;
        for (std::uint64_t i = 0; i <= truth.ways; ++i) set.lines.push_back(i * truth.sets * line);
        const auto probe = Probe(chase, truth.question()).with_sector(32);
        EXPECT_EQ(find_line(probe, set, 32, 1024), line);
        EXPECT_EQ(find_line(probe, set, 32, line / 2), 0U) << "no end up to half a line";
    }
}

}  // namespace
}  // namespace gputomo::deduce::cache
