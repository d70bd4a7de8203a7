// Blocks that end at once, and the SMs of the others.
#include "launch/profile/empty_blocks.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <vector>

namespace gputomo::launch {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(EmptyBlocks, AllBlocksAreLookedAtWhereSomeAreEmpty) {
    int looks = 0;
    const auto found = find_empty_blocks(160, 1, [&](std::uint64_t block) {
        ++looks;
        return std::optional(block % 8 > 5);
    });
    ASSERT_TRUE(found);
    for (std::uint64_t block = 0; block < 160; ++block) EXPECT_EQ((*found)[block], block % 8 > 5);
    EXPECT_LT(looks, 160 + 50);
}

TEST(EmptyBlocks, FewBlocksAreLookedAtWhereNoneOrAllAreEmpty) {
    for (const bool empty : {false, true}) {
        int looks = 0;
        EXPECT_FALSE(find_empty_blocks(16'000, 1, [&](std::uint64_t) { return ++looks, std::optional(empty); }));
        EXPECT_LT(looks, 50);
    }
    EXPECT_FALSE(find_empty_blocks(160, 1, [](std::uint64_t) { return std::optional<bool>(); }));
}

TEST(EmptyBlocks, GiveTheirPlacesToTheNextBlocks) {
    // Four SMs take a block each: 1 and 2 end at once, and 4 and 5 start in their places. Block 6 follows block 0.
    const std::vector<bool> empty{false, true, true, false, false, false, false};
    EXPECT_THAT(blocks_by_sm(empty, 4, 1),
                ElementsAre(ElementsAre(0, 6), ElementsAre(4), ElementsAre(5), ElementsAre(3)));
    EXPECT_THAT(blocks_by_sm({true, false, true}, 3, 2), ElementsAre(IsEmpty(), ElementsAre(1), IsEmpty()))
        << "blocks of the first wave stay where they are";
}

}  // namespace
}  // namespace gputomo::launch
