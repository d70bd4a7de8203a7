// Stores that leave an SM together, and lines that memory fills up.
#include "costs/partial_stores.hpp"

#include <gtest/gtest.h>

namespace gputomo::costs {
namespace {

constexpr std::uint32_t kFirstSector = 1, kWholeLine = 15;
constexpr std::uint32_t kFirstWord = 1, kFirstWords = 0xFF;  ///< of the first sector

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
    EXPECT_EQ(lines.store(0, kFirstSector, 2 * kFirstWord).sectors, 0U) << "it is the newest one again";
    const auto filled = lines.store(200, kFirstSector, kFirstWord);
    EXPECT_EQ(filled.line, 100U);
    EXPECT_EQ(filled.sectors, kFirstSector);
    EXPECT_EQ(filled.read, 90);
    EXPECT_EQ(filled.written, 168);
    EXPECT_FALSE(lines.knows(100));
}

TEST(PartialStores, NeedNoMemoryOnceTheirSectorsAreWhole) {
    PartialLines lines({}, 1);
    EXPECT_EQ(lines.store(0, kFirstSector, kFirstWords & ~kFirstWord).sectors, 0U);
    EXPECT_TRUE(lines.knows(0));
    EXPECT_EQ(lines.store(0, kFirstSector, kFirstWord).sectors, 0U);
    EXPECT_FALSE(lines.knows(0));
    EXPECT_EQ(lines.store(100, kFirstSector, kFirstWord).sectors, 0U) << "the first line is complete";
}

TEST(PartialStores, ToNeighbouringLinesAreFilledInTheTimeOfAStream) {
    PartialLines lines({.scattered_read = 90, .scattered_write = 168}, 0);
    EXPECT_EQ(lines.store(0, kWholeLine, kFirstWord).read, 128);
    EXPECT_EQ(lines.store(1, kFirstSector, kFirstWord).read, 32) << "of the same row";
    EXPECT_EQ(lines.store(8, kFirstSector, kFirstWord).written, 168) << "of another row";
}

}  // namespace
}  // namespace gputomo::costs
