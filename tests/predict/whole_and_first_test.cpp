// Replays that are branched off another one.
#include "replay_kernel.hpp"

#include <gtest/gtest.h>

#include <span>

namespace gputomo::predict {
namespace {

void expect_equal(const Timeline& one, const Timeline& other) {
    EXPECT_EQ(one.cycles, other.cycles);
    EXPECT_EQ(one.ends, other.ends);
    EXPECT_EQ(one.busy, other.busy);
    EXPECT_EQ(one.warp_cycles, other.warp_cycles);
    EXPECT_EQ(one.dram_read_bytes, other.dram_read_bytes);
    EXPECT_EQ(one.l1_hit_bytes, other.l1_hit_bytes);
}

/// Blocks of two warps that load, wait and store, at the same time as others.
Kernel kernel_of(std::size_t blocks, std::uint32_t resident) {
    Kernel kernel({kLoad, kUse, {.kind = launch::StepKind::global, .stall = 3}, {.stall = 7}}, blocks, 2);
    kernel.touch(0, launch::AccessKind::load, 2);
    kernel.touch(2, launch::AccessKind::store);
    // Blocks differ, so that their ends do.
    for (std::size_t i = 0; i < blocks; ++i)
        for (auto& warp : kernel.blocks[i].warps)
            for (std::size_t more = 0; more < i * 7 % 5; ++more) warp.push_back({.step = 3});
    kernel.profile.resident_blocks = resident;
    return kernel;
}

TEST(WholeAndFirst, AreEqualToReplaysOfTheirOwn) {
    for (const std::uint32_t resident : {1U, 2U, 3U, 8U})
        for (const bool warps_give_back : {false, true})
            for (const bool contention : {true, false}) {
                SCOPED_TRACE(testing::Message() << resident << warps_give_back << contention);
                const std::size_t first = 2 * resident;
                Kernel kernel = kernel_of(2 * first, resident);
                kernel.profile.room.warps_give_back = warps_give_back;
                Shares shares = kAlone;
                shares.contention = contention;
                const auto both = replay_whole_and_first(kernel.profile, rates(), shares, kernel.blocks, {}, first);
                expect_equal(both.whole, kernel.run(rates(), shares));
                expect_equal(both.first, replay_sm(kernel.profile, rates(), shares,
                                                   std::span<const launch::BlockTrace>(kernel.blocks).first(first)));
                EXPECT_LT(both.first.cycles, both.whole.cycles);
                EXPECT_EQ(both.first.ends.size(), first);
            }
}

TEST(WholeAndFirst, HaveLastBlocksOnlyInTheWhole) {
    const Kernel kernel = kernel_of(5, 3);
    const auto blocks = std::span<const launch::BlockTrace>(kernel.blocks).first(3);
    const std::vector<const launch::BlockTrace*> last{&kernel.blocks[3], &kernel.blocks[4]};
    const auto both = replay_whole_and_first(kernel.profile, rates(), kAlone, blocks, last, 3);
    EXPECT_EQ(both.whole.ends.size(), 5);
    expect_equal(both.first, replay_sm(kernel.profile, rates(), kAlone, blocks));
}

TEST(WholeAndFirst, AreRightWhereTheFirstBlocksDoNotFillTheSm) {
    const Kernel kernel = kernel_of(4, 4);
    const auto both = replay_whole_and_first(kernel.profile, rates(), kAlone, kernel.blocks, {}, 2);
    expect_equal(both.first, replay_sm(kernel.profile, rates(), kAlone,
                                       std::span<const launch::BlockTrace>(kernel.blocks).first(2)));
}

}  // namespace
}  // namespace gputomo::predict
