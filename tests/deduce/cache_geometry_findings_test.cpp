// How an explained geometry is written down.
#include "deduce/cache/geometry/geometry_findings.hpp"

#include "deduce/cache/geometry/search_spaces.hpp"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace gputomo::deduce::cache {
namespace {

TEST(GeometryFindings, EqualSetsHaveASizeAndNoListOfWays) {
    CacheFindings found;
    write_size(found, {}, 64, {4, 4, 4}, 0.97);
    EXPECT_EQ(found.line.value, 64);
    EXPECT_EQ(found.sets.value, 3);
    EXPECT_EQ(found.ways.value, 4);
    EXPECT_EQ(found.capacity.value, 768);
    EXPECT_EQ(found.capacity.confidence, 0.97);
    EXPECT_EQ(found.capacity.bracket, (std::array<std::int64_t, 2>{768, 768}));
    EXPECT_TRUE(found.set_ways.empty());
}

TEST(GeometryFindings, UnequalSetsAreListed) {
    CacheFindings found;
    write_size(found, {}, 64, {17, 8, 8}, 1);
    EXPECT_EQ(found.ways.value, 17);
    EXPECT_EQ(found.capacity.value, 33 * 64);
    EXPECT_EQ(found.set_ways, (std::vector<std::int64_t>{17, 8, 8}));
}

TEST(GeometryFindings, WaysThatTheChasesOwnCodeOccupiesAreAdded) {
    CacheFindings found;
    // Three lines of code in two sets: one set has two of them, the other one.
    write_size(found, {.code_bytes = 192}, 64, {6, 7}, 1);
    EXPECT_EQ(found.ways.value, 8);
    EXPECT_TRUE(found.set_ways.empty());
}

TEST(GeometryFindings, ASectorOfAWindowThatMissedOnceIsAtLeastTheWindow) {
    CacheFindings found;
    EXPECT_TRUE(write_sector(found, {.overflows = 4096}, {.bytes = 256, .agreement = 0}));
    EXPECT_EQ(found.sector.value, 0);
    EXPECT_EQ(found.sector.bracket, (std::array<std::int64_t, 2>{256, 4096}));
    EXPECT_TRUE(write_sector(found, {.overflows = 4096}, {.bytes = 32, .agreement = 0.9}));
    EXPECT_EQ(found.sector.value, 32);
    EXPECT_EQ(found.sector.bracket, (std::array<std::int64_t, 2>{32, 32}));
}

TEST(GeometryFindings, RemarksAreNotRepeated) {
    CacheFindings found;
    EXPECT_FALSE(write_sector(found, {}, {}));
    EXPECT_FALSE(write_sector(found, {}, {}));
    EXPECT_EQ(found.remarks.size(), 1U);
}

TEST(GeometryFindings, TagsWithoutDataDoNotCount) {
    CacheFindings found;
    write_data(found, {.fits = 1024, .overflows = 4096, .overflow = 1088}, "4 sets of 8 lines", 0.9);
    EXPECT_EQ(found.capacity.value, 1024);
    EXPECT_EQ(found.capacity.bracket, (std::array<std::int64_t, 2>{1024, 1087}));
    EXPECT_EQ(found.remarks.size(), 1U);
}

TEST(SearchSpaces, AreInAllOfTheBufferOrInASmallerWindow) {
    const auto spaces = [](std::uint64_t buffer) {
        std::vector<std::pair<std::uint64_t, std::uint64_t>> all;
        for (const auto& space : search_spaces({.overflows = 3000, .buffer_bytes = buffer}))
            all.emplace_back(space.window, space.search);
        return all;
    };
    using Spaces = std::vector<std::pair<std::uint64_t, std::uint64_t>>;
    EXPECT_EQ(spaces(1 << 20),
              (Spaces{{1 << 20, 1 << 15}, {1 << 15, 1 << 15}, {1 << 20, 1 << 17}, {1 << 14, 1 << 14}}));
    EXPECT_EQ(spaces(1 << 15), (Spaces{{1 << 15, 1 << 15}, {1 << 15, 1 << 17}, {1 << 14, 1 << 14}}))
        << "a window as large as the buffer is tried once";
}

TEST(GeometryFindings, AnIndexIsWrittenAsBitsOrMasks) {
    CacheFindings bits, hash, modulo;
    write_index(bits, Index::linear({0x80, 0x100}, {0x40}, 64));
    EXPECT_EQ(bits.index, "bits");
    EXPECT_EQ(bits.index_bits, (std::vector<std::int64_t>{7, 8}));
    write_index(hash, Index::linear({0x140, 0x280}, {0x140, 0x280}, 64));
    EXPECT_EQ(hash.index_hash, (std::vector<std::int64_t>{0x140, 0x280}));
    write_index(modulo, Index::modulo(6, 64, 0, 65536));
    EXPECT_EQ(modulo.index, "modulo");
    EXPECT_TRUE(modulo.index_bits.empty());
    EXPECT_TRUE(modulo.index_hash.empty());
}

}  // namespace
}  // namespace gputomo::deduce::cache
