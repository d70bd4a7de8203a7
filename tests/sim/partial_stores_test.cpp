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
    PartialLines lines(2);
    EXPECT_EQ(lines.store(0, kFirstSector, kFirstWord).sectors, 0U);
    EXPECT_EQ(lines.store(100, kFirstSector, kFirstWord).sectors, 0U);
    EXPECT_EQ(lines.store(0, kFirstSector, LineBytes(4, 4)).sectors, 0U) << "it is the newest one again";
    const auto filled = lines.store(200, kFirstSector, kFirstWord);
    EXPECT_EQ(filled.line, 100U);
    EXPECT_EQ(filled.sectors, kFirstSector);
    EXPECT_EQ(filled.address(), 100U * kStoredLine);
    EXPECT_EQ(filled.bytes(), kStoredSector);
    EXPECT_FALSE(lines.knows(100));
}

TEST(PartialStores, NeedNoMemoryOnceTheirSectorsAreWhole) {
    PartialLines lines(1);
    EXPECT_EQ(lines.store(0, kFirstSector, kLaterWords).sectors, 0U);
    EXPECT_TRUE(lines.knows(0));
    EXPECT_EQ(lines.store(0, kFirstSector, kFirstWord).sectors, 0U);
    EXPECT_FALSE(lines.knows(0));
    EXPECT_EQ(lines.store(100, kFirstSector, kFirstWord).sectors, 0U) << "the first line is complete";
}

TEST(PartialStores, OfBytesNeedAllBytesOfASector) {
    PartialLines lines(1);
    for (std::uint64_t byte = 0; byte < 32; byte += 2) (void)lines.store(0, kFirstSector, LineBytes(byte, 1));
    EXPECT_TRUE(lines.knows(0)) << "every word was touched, and a half of its bytes is missing";
    for (std::uint64_t byte = 1; byte < 32; byte += 2) (void)lines.store(0, kFirstSector, LineBytes(byte, 1));
    EXPECT_FALSE(lines.knows(0));
}

TEST(PartialStores, AreCompletedByAStoreOfWholeSectors) {
    PartialLines lines(1);
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

TEST(PartialStores, ThatJoinAWaitingOneAreTakenOnce) {
    PartialLines lines(10);
    (void)lines.store(7, 0b11, kFirstWord);
    lines.join(7, 0b01, LineBytes(8, 4));
    EXPECT_EQ(lines.take(7).stored, 2U);
    lines.join(8, 0b01, kFirstWord);
    EXPECT_FALSE(lines.knows(8)) << "no store has reached the cache";
    (void)lines.store(7, kFirstSector, kFirstWord);
    lines.join(7, kFirstSector, kLaterWords);
    EXPECT_FALSE(lines.knows(7)) << "its sector is whole";
}

TEST(PartialStores, LeaveOtherSectorsWhole) {
    PartialLines lines(10);
    (void)lines.store(7, 0b001, kFirstWord);
    (void)lines.store(7, 0b110, LineBytes::of_sectors(0b110));
    const auto filled = lines.take(7);
    EXPECT_EQ(filled.sectors, 0b001U);
    EXPECT_EQ(filled.whole, 0b110U);
}

TEST(PartialStores, GiveUpTheLinesThatTheCacheDisplaces) {
    PartialLines lines(10);
    (void)lines.store(7, 0b11, kFirstWord);
    EXPECT_EQ(lines.take(8).sectors, 0U);
    EXPECT_EQ(lines.take(7).sectors, 0b11U);
    EXPECT_FALSE(lines.knows(7));
}

TEST(PartialStores, EachRequestHasAHead) {
    const PartialStores spec{.kept_lines = 1, .request = 32};
    const auto taken = [&](const StoredPart& part) { return stored_bytes(spec, 1.5, part); };
    EXPECT_DOUBLE_EQ(taken({.bytes = 128}), 128);
    EXPECT_DOUBLE_EQ(taken({.bytes = 32}), 128 * 64 / 160.0);
    EXPECT_DOUBLE_EQ(taken({.bytes = 32, .joins = true}), 128 * 32 / 160.0) << "four that join are a line without head";
    EXPECT_DOUBLE_EQ(taken({.bytes = 128, .partial = true}), 1.5 * 128);
    EXPECT_DOUBLE_EQ(taken({.bytes = 32, .partial = true}), 128 * 64 / 160.0 + 0.5 * 128);
    EXPECT_DOUBLE_EQ(stored_bytes({}, 2, {.bytes = 32, .partial = true}), 64) << "nothing of it is described";
}

TEST(PartialStores, JoinALineOfWhichOtherSectorsWait) {
    StoreQueue queue(2);
    queue.add(7, kFirstSector, 100);
    EXPECT_TRUE(queue.has(7, 99));
    EXPECT_FALSE(queue.has(7, 100));
    EXPECT_FALSE(queue.has(8, 99));
}

}  // namespace
}  // namespace gputomo::costs
