// How an explained geometry is written down.
#include "deduce/cache/geometry_findings.hpp"

#include <gtest/gtest.h>

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
