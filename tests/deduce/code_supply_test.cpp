// Where straight-line code begins to arrive more slowly.
#include "deduce/pipeline/code_supply.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace gputomo::deduce {
namespace {

/// Pieces of 240 bytes that take 15 cycles, every third of them `wait` more, and `far` more from piece `slow` on.
std::vector<CodePiece> supply_pieces(std::uint64_t count, std::uint64_t slow, double wait, double far) {
    std::vector<CodePiece> all;
    for (std::uint64_t i = 0; i < count; ++i) {
        const bool waits = i % 3 == 0;
        all.push_back({i * 240, (i + 1) * 240, 15 + (waits ? (i < slow ? wait : far) : 0)});
    }
    return all;
}

TEST(CodeSupply, TheFirstSlowerPieceIsFound) {
    for (const std::uint64_t slow : {30U, 273U, 450U}) {
        const auto found = slower_from(supply_pieces(512, slow, 57, 660));
        ASSERT_TRUE(found) << slow;
        EXPECT_EQ(found->slow_from, slow * 240) << slow;
        EXPECT_EQ(found->slow_to, slow * 240 + 240);
        EXPECT_NEAR(found->near, (15 + 19) / 240.0, 0.005);
        EXPECT_NEAR(found->far, (15 + 220) / 240.0, 0.02);
    }
}

TEST(CodeSupply, EquallyFastCodeHasNoSlowerPart) {
    EXPECT_FALSE(slower_from(supply_pieces(512, 512, 57, 0)));
    EXPECT_FALSE(slower_from(supply_pieces(512, 250, 57, 75))) << "a third more is not another level";
    EXPECT_FALSE(slower_from({}));
}

TEST(CodeSupply, AFewSlowPiecesAreOutliers) {
    auto some = supply_pieces(100, 100, 57, 0);
    some[97].cycles = some[98].cycles = 5000;
    EXPECT_FALSE(slower_from(some));
}

}  // namespace
}  // namespace gputomo::deduce
