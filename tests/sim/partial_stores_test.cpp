// Stores that leave an SM together, and lines that memory fills up.
#include "costs/partial_stores.hpp"

#include <gtest/gtest.h>

namespace gputomo::costs {
namespace {

constexpr std::uint32_t kFirstSector = 1, kWholeLine = 15;
const LineBytes kFirstWord(0, 4), kLaterWords(4, 28);  ///< of the first sector

TEST(PartialStores, JoinThoseThatWaitToLeaveTheSm) {
    StoreQueue queue(2);
    EXPECT_EQ(queue.left(7, kWholeLine, 0), kWholeLine) << "nothing waits";
    queue.add(7, kFirstSector, 100);
    EXPECT_EQ(queue.left(7, kFirstSector, 50), 0U);
    EXPECT_EQ(queue.left(7, kWholeLine, 50), kWholeLine & ~kFirstSector);
    EXPECT_EQ(queue.left(8, kFirstSector, 50), kFirstSector) << "another line";
    EXPECT_EQ(queue.left(7, kFirstSector, 100), kFirstSector) << "it has left";
}

TEST(PartialStores, JoinTheLastOnesOnly) {
    StoreQueue queue(2);
    for (std::uint64_t line = 0; line < 3; ++line) queue.add(line, kFirstSector, 100);
    EXPECT_EQ(queue.left(0, kFirstSector, 0), kFirstSector);
    EXPECT_EQ(queue.left(2, kFirstSector, 0), 0U);
}

TEST(PartialStores, LeaveLinesOfWhichTheOldestIsFilledUp) {
    PartialLines lines({.scattered_read = 90, .scattered_write = 168}, 2);
    EXPECT_EQ(lines.store(0, kFirstSector, kFirstWord).sectors, 0U);
    EXPECT_EQ(lines.store(100, kFirstSector, kFirstWord).sectors, 0U);
    EXPECT_EQ(lines.store(0, kFirstSector, LineBytes(4, 4)).sectors, 0U) << "it is the newest one again";
    const auto filled = lines.store(200, kFirstSector, kFirstWord);
    EXPECT_EQ(filled.line, 100U);
    EXPECT_EQ(filled.sectors, kFirstSector);
    EXPECT_EQ(filled.read, 90);
    EXPECT_EQ(filled.written, 168);
    EXPECT_FALSE(lines.knows(100));
}

TEST(PartialStores, NeedNoMemoryOnceTheirSectorsAreWhole) {
    PartialLines lines({}, 1);
    EXPECT_EQ(lines.store(0, kFirstSector, kLaterWords).sectors, 0U);
    EXPECT_TRUE(lines.knows(0));
    EXPECT_EQ(lines.store(0, kFirstSector, kFirstWord).sectors, 0U);
    EXPECT_FALSE(lines.knows(0));
    EXPECT_EQ(lines.store(100, kFirstSector, kFirstWord).sectors, 0U) << "the first line is complete";
}

TEST(PartialStores, OfBytesNeedAllBytesOfASector) {
    PartialLines lines({}, 1);
    for (std::uint64_t byte = 0; byte < 32; byte += 2) (void)lines.store(0, kFirstSector, LineBytes(byte, 1));
    EXPECT_TRUE(lines.knows(0)) << "every word was touched, and a half of its bytes is missing";
    for (std::uint64_t byte = 1; byte < 32; byte += 2) (void)lines.store(0, kFirstSector, LineBytes(byte, 1));
    EXPECT_FALSE(lines.knows(0));
}

TEST(PartialStores, AreCompletedByAStoreOfWholeSectors) {
    PartialLines lines({}, 1);
    (void)lines.store(0, kFirstSector, kFirstWord);
    (void)lines.store(0, kWholeLine, LineBytes::of_sectors(kWholeLine));
    EXPECT_FALSE(lines.knows(0));
}

TEST(LineBytes, BeginAnywhereInALine) {
    EXPECT_EQ(LineBytes(0, 128).whole_sectors(), kWholeLine);
    EXPECT_EQ(LineBytes(31, 66).whole_sectors(), 0b0110U);
    EXPECT_EQ(LineBytes(1000 * 128 + 64, 32).whole_sectors(), 0b0100U);
    EXPECT_EQ(LineBytes(96, 64).whole_sectors(), 0b1001U) << "of the next line the same bytes";
    EXPECT_EQ(LineBytes(31, 66).count(), 66U);
    EXPECT_EQ(LineBytes::of_sectors(0b1010).whole_sectors(), 0b1010U);
}

TEST(PartialStores, ToNeighbouringLinesAreFilledInTheTimeOfAStream) {
    PartialLines lines({.scattered_read = 90, .scattered_write = 168}, 0);
    EXPECT_EQ(lines.store(0, kWholeLine, kFirstWord).read, 128);
    EXPECT_EQ(lines.store(1, kFirstSector, kFirstWord).read, 32) << "of the same row";
    EXPECT_EQ(lines.store(8, kFirstSector, kFirstWord).written, 168) << "of another row";
}

}  // namespace
}  // namespace gputomo::costs
