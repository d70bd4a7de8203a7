// The worked examples of Volkov 2016, chapter 3.
#include "predicting.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>

namespace gputomo::predict::testing {
namespace {

using ::testing::ElementsAre;

TEST(Worksheet, GivesTable34) {  // 3.6: instruction mix of Table 3.2, limits of Table 3.3
    constexpr double kCores = 32.0 / 128, kSfu = 32.0 / 32, kBytesPerCycle = 10.4, kIssue = 0.25;
    Worksheet sheet;
    sheet.add("CUDA cores", "CUDA core instruct.", kCores, 100);
    sheet.add("SFU units", "SFU instructions", kSfu, 5);
    sheet.add("Shared memory banks", "No conflict access", 1, 10);
    sheet.add("Shared memory banks", "2-way conflict", 2, 10);
    sheet.add("Memory system", "Fully coalesced", 128 / kBytesPerCycle, 5);
    sheet.add("Memory system", "Stride-2 access", 256 / kBytesPerCycle, 5);
    sheet.add("Warp scheduler", "Single issue", kIssue, 125);
    sheet.add("Warp scheduler", "Dual-issue", kIssue, 5);
    sheet.add("Warp scheduler", "Reissue", kIssue, 15);
    EXPECT_DOUBLE_EQ(sheet.resource("CUDA cores").total(), 25);
    EXPECT_DOUBLE_EQ(sheet.resource("SFU units").total(), 5);
    EXPECT_DOUBLE_EQ(sheet.resource("Shared memory banks").total(), 30);
    EXPECT_NEAR(sheet.resource("Memory system").total(), 184.5, 0.2);  // printed from 12.3 and 24.6
    EXPECT_DOUBLE_EQ(sheet.resource("Warp scheduler").total(), 36.25);
    EXPECT_EQ(sheet.tightest().resource, "Memory system");
    EXPECT_NEAR(1 / sheet.tightest().total(), 0.00542, 0.00001);
}

TEST(Worksheet, MergesUsesOfOneKind) {
    Worksheet sheet;
    sheet.add("a", "x", 2, 1);
    sheet.add("a", "x", 2, 3);
    sheet.add("a", "x", 4, 1);
    sheet.add("a", "never", 4, 0);
    ASSERT_EQ(sheet.resources.size(), 1U);
    EXPECT_EQ(sheet.resources[0].uses.size(), 2U);
    EXPECT_EQ(sheet.resources[0].total(), 12);
    EXPECT_THROW((void)Worksheet{}.tightest(), std::logic_error);
}

TEST(LatencyBound, OfListing31) {  // register dependencies on the Kepler GPU
    const auto p =
        predicted(listed("LD R1, [R1]\nLDS R1, [R1]\nFADD R1, R1, R2\nMUFU.RSQ R1, R1\nST [R3], R1\n"), "gtx680");
    EXPECT_THAT(p.issue_times, ElementsAre(0, 301, 325, 334, 343));
}

TEST(LatencyBound, OfListing32) {  // ILP latency on the Fermi GPU
    const auto p = predicted(listed("FADD R1, R1, R1\nFADD R2, R2, R2\nFADD R3, R3, R3\nFADD R4, R4, R4\n"), "gtx480");
    EXPECT_THAT(p.issue_times, ElementsAre(0, 6, 12, 18));
}

TEST(LatencyBound,
     Listing33) {  // branch and barrier on the Fermi GPU; its load takes 512 cycles, a cycle less than Table 6.2 says
    const std::string text =
        "@P0 BRA `(label)\nLD R1, [R1]\nFADD R1, R1, R2\nlabel:\nBAR.RED.POPC 0x0\nFADD R1, R1, R2\n";
    const auto longer = predicted(listed(text), "gtx480");
    EXPECT_THAT(longer.issue_times, ElementsAre(0, 28, 541, 541 + 6, 541 + 6 + 34));
    const auto taken =
        predicted(listed(text), "gtx480", {.path = {.trip_counts = {}, .taken = {"label"}}, .access = {}});
    EXPECT_THAT(taken.issue_times, ElementsAre(0, -1, -1, 32, 32 + 34));
}

TEST(VectorAdd, LongestPathIs544Cycles) {  // 3.8, Listing 3.5, Fig. 3.5
    const auto p = predicted(listed(text_of("sass/vector_add_sm_30.sass"), "vadd"), "gtx680");
    EXPECT_THAT(p.issue_times, ElementsAre(0, 0, 3, 12, 21, 21, 30, 33, 33, 334, 343, 343));
    EXPECT_EQ(p.latency, 544);
    EXPECT_EQ(p.work.dual_issues, 4);
    EXPECT_EQ(p.work.issues(), 8);
    EXPECT_EQ(p.work.core_issues, 7);
}

TEST(VectorAdd, ThroughputBoundIsMemory) {
    auto p = predicted(listed(text_of("sass/vector_add_sm_30.sass"), "vadd"), "gtx680");
    EXPECT_EQ(p.limited_by, "memory system");
    EXPECT_NEAR(1 / p.bound, 0.0445, 0.0002);
    EXPECT_DOUBLE_EQ(1 / p.worksheet.resource("warp scheduler").total(), 0.5);
    EXPECT_DOUBLE_EQ(p.worksheet.resource("CUDA cores").total(), 7.0 / 4);
    EXPECT_NEAR(p.gigabytes_per_second, 154, 0.01);
    ASSERT_EQ(p.points.back().warps, 64);
    for (const auto& point : p.points) {
        EXPECT_NEAR(384 * 8 * 1.124 * point.warps_per_cycle, std::min(point.warps * 6.35, 154.0), 0.2);
        EXPECT_LE(point.contended_warps_per_cycle, point.warps_per_cycle);
    }
}

/// Listing 3.6 as machine code: three accesses, of which line 7 is the permuted one.
constexpr const char* kPermute =
    "S2R R0, SR_CTAID.X\nS2R R3, SR_TID.X\nIMAD R2, R0, c[0x0][0x28], R3\nISCADD R3, R2, c[0x0][0x150], 0x2\nLD R3, "
    "[R3]\nISCADD R3, R3, c[0x0][0x148], "
    "0x2\nLD R4, [R3]\n"
    "ISCADD R2, R2, c[0x0][0x140], 0x2\nST [R2], R4\nEXIT\n";

TEST(BackOfTheEnvelope, RandomPermutationNeedsFarFewerWarps) {  // 3.10
    const auto ordered = predicted(listed(kPermute), "gtx980");
    const auto random =
        predicted(listed(kPermute), "gtx980", {.path = {}, .access = {.transactions = {{7, 32}}, .ways = {}}});
    EXPECT_EQ(ordered.bytes, 3 * 128);
    EXPECT_EQ(random.bytes, 2 * 128 + 32 * 32);            // 32-byte transactions
    EXPECT_NEAR(random.bound / ordered.bound, 3.3, 0.06);  // of the bytes; the one write costs more than a read
    EXPECT_GT(random.latency, ordered.latency);
    EXPECT_LT(random.latency / ordered.latency, 1.3);
    EXPECT_LT(random.needed_warps, ordered.needed_warps / 2);
}

TEST(BackOfTheEnvelope, WritesHalveTheOccupancyNeeded) {  // 3.10, Listing 3.7
    const auto read = predicted(listed("LD R1, [R1]\nFSETP.LT.AND P0, PT, R1, RZ, PT\n@!P0 EXIT\n"), "gtx980");
    const auto both = predicted(
        listed("LD R1, [R1]\nFSETP.LT.AND P0, PT, R1, RZ, PT\n@!P0 EXIT\nFADD R1, -R1, -RZ\nST [R2], R1\nEXIT\n"),
        "gtx980");
    EXPECT_NEAR(read.needed_warps / both.needed_warps, 2, 0.1);
}

TEST(BackOfTheEnvelope, MoreInstructionsNeedMoreWarps) {  // 3.10, the same memory traffic
    std::string longer;
    for (int i = 0; i < 60; ++i) longer += "FADD R1, R1, R2\n";
    EXPECT_GT(predicted(listed("LD R1, [R1]\n" + longer + "EXIT\n"), "gtx980").needed_warps,
              1.3 * predicted(listed("LD R1, [R1]\nEXIT\n"), "gtx980").needed_warps);
}

}  // namespace
}  // namespace gputomo::predict::testing
