// What an L2 keeps of a launch, beside what an H200 read from DRAM and wrote to it
// (docs/notes/2026-11-27-what-the-l2-keeps.md).
#include "predict/launch/l2_use.hpp"

#include "costs/dram_writes.hpp"

#include <gtest/gtest.h>

namespace gputomo::predict {
namespace {

constexpr double kMega = 1e6;
/// What one SM of an H200 sees of its L2.
constexpr double kCapacity = 29 * kMega;

L2Use h200(double read, double written, const L2Content& content = {}) {
    return l2_use_of({.capacity = kCapacity, .sides = 2, .read = read * kMega, .written = written * kMega}, content);
}

TEST(L2Use, OnePartitionIsSharedByAllData) {
    const L2Use use = l2_use_of({.capacity = 10, .sides = 1, .read = 30, .written = 10}, {});
    EXPECT_FALSE(use.fits);
    EXPECT_DOUBLE_EQ(use.kept_of_read, 0.25);
    EXPECT_DOUBLE_EQ(use.written_back, 0.75);
    EXPECT_TRUE(l2_use_of({.capacity = 10, .sides = 1, .read = 6, .written = 4}, {}).fits);
}

TEST(L2Use, LinesThatAreReadBehindAnotherPartitionAreKeptTwice) {
    EXPECT_TRUE(h200(33, 0).fits);
    EXPECT_FALSE(h200(49.5, 0).fits);
    // Lines that SMs of both partitions read are kept twice, all of them.
    EXPECT_FALSE(l2_use_of({.capacity = 29, .sides = 2, .read = 33, .readers = 100}, {}).fits);
}

TEST(L2Use, WrittenBytesReachDramAsAnH200Counts) {
    const auto reaches_dram = [](double read, double written) { return written * h200(read, written).written_back; };
    EXPECT_NEAR(reaches_dram(0, 16.8), 0, 0.1);
    EXPECT_NEAR(reaches_dram(0, 50.3), 22.8, 2);
    EXPECT_NEAR(reaches_dram(0, 100.7), 73.2, 2);
    EXPECT_NEAR(reaches_dram(50.3, 50.3), 26.7, 2);
    EXPECT_NEAR(reaches_dram(100.7, 100.7), 75.7, 3);
}

TEST(L2Use, DirtyDataOfOthersAreDisplacedOnce) {
    const auto displaced = [](double read, double written) {
        return (read + written) * h200(read, written, dirty_content()).displaced;
    };
    EXPECT_DOUBLE_EQ(h200(100, 100).displaced, 0);
    EXPECT_NEAR(displaced(100, 100), kCapacity / kMega, 1e-9);
    EXPECT_NEAR(displaced(10, 0), 7.5, 1e-9) << "half of the lines are dirty, and each that is read displaces 1.5";
}

TEST(DramWrites, CostMoreBesideReadsThanAlone) {
    EXPECT_DOUBLE_EQ(costs::write_cost_beside(1.3, 0, 100), 1);
    EXPECT_DOUBLE_EQ(costs::write_cost_beside(1.3, 100, 100), 1.3);
    EXPECT_NEAR(costs::write_cost_beside(1.3, 100, 1), 1.6, 0.01);
}

}  // namespace
}  // namespace gputomo::predict
