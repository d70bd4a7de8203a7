// Which addresses share a set.
#include "deduce/cache/sets/index.hpp"

#include "caches/simulated_cache.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>

namespace gputomo::deduce::cache {
namespace {

using testing::CacheTruth;
using testing::SimulatedCache;

TEST(Index, ByModuloLinesOfASetAreEquallyFarApartWhereverTheBufferBegins) {
    const auto index = Index::modulo(12, 64, 0x1000, 65536);
    EXPECT_EQ(index.sets(), 12U);
    EXPECT_EQ(index.name(), "modulo");
    EXPECT_EQ(index.lines_in_span(), 65536U / 64 / 12);
    for (const std::uint64_t set : {0, 5, 11})
        for (const std::uint64_t i : {0, 1, 7}) {
            EXPECT_EQ(index.set_of(0x1000 + index.line_of(set, i)), set);
            EXPECT_EQ(index.line_of(set, i) - index.line_of(set, 0), i * 12 * 64);
        }
}

TEST(Index, ByMasksTheSetBitsAreParities) {
    // Set bit 0: address bits 6 and 8; set bit 1: bits 7 and 9.
    const auto index = Index::linear({0x140, 0x280}, {0x140, 0x280, 0x400}, 64);
    EXPECT_EQ(index.sets(), 4U);
    EXPECT_EQ(index.name(), "hash");
    EXPECT_EQ(index.lines_in_span(), 8U);
    EXPECT_EQ(index.set_of(0x40), 1U);
    EXPECT_EQ(index.set_of(0x140), 0U);
    EXPECT_EQ(index.set_of(0x180), 3U);
    for (std::uint64_t set = 0; set < 4; ++set)
        for (std::uint64_t i = 0; i < 8; ++i)
            EXPECT_EQ(index.set_of(index.line_of(set, i)), index.set_of(index.line_of(set, 0)));
}

TEST(Index, SingleBitsAreNamedByTheirPlace) {
    EXPECT_EQ(Index::linear({0x40, 0x80}, {0x100}, 64).name(), "modulo");
    EXPECT_EQ(Index::linear({0x80, 0x100}, {0x40}, 64).name(), "bits");
}

EvictionSet eviction_set_of(const CacheTruth& truth) {
    EvictionSet set;
    for (std::uint64_t n = 0; set.lines.size() <= truth.ways; ++n)
        if (truth.index_of(n * truth.line) == 0) set.lines.push_back(n * truth.line);
    return set;
}

std::optional<Index> index_of(const CacheTruth& truth) {
    SimulatedCache cache(truth);
    const auto chase = cache.chase();
    return find_index(Probe(chase, truth.question()), eviction_set_of(truth), truth.line);
}

TEST(Index, IsFoundByModulo) {
    for (const std::uint64_t sets : {8, 12}) {
        const auto found = index_of({.sets = sets});
        ASSERT_TRUE(found);
        EXPECT_EQ(found->name(), "modulo");
        EXPECT_EQ(found->sets(), sets);
    }
}

TEST(Index, XorsOfAddressBitsAreFoundBitForBit) {
    const auto found = index_of({.sets = 8, .ways = 3, .set_of = [](std::uint64_t n) { return (n ^ n >> 3) % 8; }});
    ASSERT_TRUE(found);
    auto masks = found->masks();
    std::ranges::sort(masks);
    // Line bits 0 ^ 3, 1 ^ 4, 2 ^ 5 are address bits 6 ^ 9, 7 ^ 10, 8 ^ 11.
    EXPECT_EQ(masks, (std::vector<std::uint64_t>{0x240, 0x480, 0x900}));
}

TEST(Index, BelowAFilteringLevelOnlyAModulusIsTried) {
    const CacheTruth truth{.sets = 8, .ways = 3, .set_of = [](std::uint64_t n) { return (n ^ n >> 3) % 8; }};
    SimulatedCache cache(truth);
    const auto chase = cache.chase();
    auto question = truth.question();
    question.filtered = true;
    EXPECT_FALSE(find_index(Probe(chase, question), eviction_set_of(truth), truth.line));
}

}  // namespace
}  // namespace gputomo::deduce::cache
