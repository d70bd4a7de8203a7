// Lines that blocks read and write in part.
#include "launch/profile/parts_of_lines.hpp"

#include <gtest/gtest.h>

namespace gputomo::launch {
namespace {

constexpr std::uint64_t kSectorsOfLine = 4;

Sectors every(std::uint64_t apart, std::uint64_t first = 0) {
    Sectors sectors;
    for (std::uint64_t i = 0; i < 100; ++i) sectors.insert(first + i * apart);
    return sectors;
}

double cost_of(const std::vector<Sectors>& blocks, const costs::ScatteredSpec& spec = {.read = 120, .write = 160}) {
    PartsOfLines lines(spec);
    Sectors before;
    for (const Sectors& block : blocks) {
        lines.add(block, before);
        before.insert(block);
    }
    return lines.cost_of_writes();
}

TEST(PartsOfLines, CostAStreamWhereLinesAreWhole) { EXPECT_DOUBLE_EQ(cost_of({every(1)}), 1); }

TEST(PartsOfLines, CostMoreInParts) {
    EXPECT_DOUBLE_EQ(cost_of({every(1000)}), 5);
    EXPECT_DOUBLE_EQ(cost_of({every(2 * kSectorsOfLine)}), (160 + 64) / 2 / 32.0) << "of every other line";
    EXPECT_DOUBLE_EQ(cost_of({every(1000)}, {}), 1) << "not described";
}

TEST(PartsOfLines, AreCompletedByOtherBlocks) {
    EXPECT_DOUBLE_EQ(cost_of({every(1000), every(1000, 1)}), 1);
    EXPECT_DOUBLE_EQ(cost_of({every(1000), every(1000, 500)}), 5) << "of other lines";
    EXPECT_DOUBLE_EQ(cost_of({every(1000), every(1000, 10001)}), 1) << "nine of ten lines are those of the first block";
    EXPECT_DOUBLE_EQ(cost_of({every(1000), every(1000, 90001)}), 5) << "a tenth of them may be chance";
}

TEST(PartsOfLines, AreNotCompletedWhereABlockHasWholeLines) {
    PartsOfLines lines({.read = 120});
    lines.add(every(1), {});
    lines.add(every(1, 1000), every(1));
    EXPECT_FALSE(lines.are_completed());
    lines.add(every(1000, 1), every(1000));
    EXPECT_TRUE(lines.are_completed());
}

/// One line that two blocks share does not decide about the lines that 100 blocks have alone.
TEST(PartsOfLines, AreNotCompletedBecauseOneLineIs) {
    std::vector<Sectors> blocks;
    for (std::uint64_t block = 0; block < 2; ++block) {
        Sectors halo;
        halo.insert(block);
        blocks.push_back(halo);
    }
    for (std::uint64_t block = 0; block < 100; ++block) blocks.push_back(every(1000, 1'000'000 * (block + 1)));
    EXPECT_GT(cost_of(blocks), 4);
}

/// Blocks of which most go on with no line of others outweigh one that does.
TEST(PartsOfLines, AreNotCompletedWhereMostBlocksMeetByChance) {
    std::vector<Sectors> blocks{every(1000), every(1000, 1)};
    for (std::uint64_t block = 0; block < 10; ++block) {
        Sectors sectors = every(1000, 1'000'000 * (block + 1));
        sectors.insert(1000 * block + 2);
        blocks.push_back(sectors);
    }
    EXPECT_GT(cost_of(blocks), 4);
}

}  // namespace
}  // namespace gputomo::launch
