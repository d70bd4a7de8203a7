// How busy atomics keep their units, and what of that an SM sees.
#include "predict/launch/atomic_load.hpp"

#include "predict/launch/sm_timeline.hpp"

#include <gtest/gtest.h>

namespace gputomo::predict {
namespace {

/// Four units of 256 bytes; floats wait 10 cycles for each other.
const costs::AtomicUnits kUnits(4, 256, {{{3, 3, 2}, {10, 3, 2}, {3, 3, 2}, {3, 5, 4}}});

launch::LaunchProfile with_sectors(std::initializer_list<launch::AtomicSector> sectors, double scattered = 0) {
    launch::LaunchProfile profile;
    profile.atomic_sectors = sectors;
    profile.scattered_atomics = scattered;
    return profile;
}

/// One block of one warp whose instruction adds to these lines, one thread each.
std::vector<launch::BlockTrace> block_of(std::size_t requests, std::uint64_t line) {
    launch::BlockTrace block;
    block.accesses.push_back({.first = 0,
                              .lines = static_cast<std::uint16_t>(requests),
                              .kind = launch::AccessKind::atomic,
                              .atomic_class = costs::AtomicClass::floating,
                              .stage_cycles = 1});
    for (std::size_t i = 0; i < requests; ++i)
        block.lines.push_back({.line = line, .sectors = 1, .partial = true, .again = i > 0, .lone = true, .asked = 4});
    block.warps = {{{.step = 0, .access = 0}}};
    return {block};
}

const launch::TouchedLine kWord{.line = 0, .sectors = 1, .partial = true, .lone = true, .asked = 4};

TEST(AtomicLoad, OnOneAddressEachRequestWaitsForTheLast) {
    const auto profile = with_sectors({{0, 1000}});
    const AtomicLoad load(profile, kUnits);
    EXPECT_DOUBLE_EQ(load.cycles(kWord, costs::AtomicClass::floating), 10);
    EXPECT_TRUE(load.is_one_sector());
    EXPECT_TRUE(load.is_uneven());
}

TEST(AtomicLoad, OnTwoSectorsOfAUnitHalfOfThemWait) {
    const auto profile = with_sectors({{0, 500}, {1, 500}});
    const AtomicLoad load(profile, kUnits);
    EXPECT_DOUBLE_EQ(load.cycles(kWord, costs::AtomicClass::floating), (10 + 3) / 2.0);
    EXPECT_FALSE(load.is_one_sector());
}

TEST(AtomicLoad, ScatteredRequestsAreTheSameForAllUnits) {
    const auto profile = with_sectors({}, 4000);
    const AtomicLoad load(profile, kUnits);
    EXPECT_FALSE(load.is_uneven());
    EXPECT_NEAR(load.cycles(kWord, costs::AtomicClass::floating), 3, 0.1);
}

TEST(AtomicLoad, SharesAreThoseOfTheUnitThatABlockUses) {
    const auto profile = with_sectors({{0, 1000}});
    const AtomicLoad load(profile, kUnits);
    const auto shares = load.shares_of(block_of(10, 0), 2);
    EXPECT_DOUBLE_EQ(shares[load.unit_of(kWord)], 1000 / 20.0);
    EXPECT_DOUBLE_EQ(shares[load.unit_of({.line = 2})], 1) << "a unit that the block does not use";
}

TEST(AtomicLoad, WithoutAtomicsItIsEmpty) {
    const auto profile = with_sectors({});
    EXPECT_TRUE(AtomicLoad(profile, kUnits).empty());
}

TEST(SmTimeline, AtomicsOfAllSmsOccupyTheirUnit) {
    SmRates rates;
    rates.sms = 4;
    rates.l1_bytes = 1 << 16;
    rates.l2_latency = rates.memory_latency = 200;
    rates.memory_bandwidth = rates.memory_peak = 64;
    auto profile = with_sectors({{0, 128}});
    profile.steps = {{.kind = launch::StepKind::global, .stall = 2, .written = 0}, {.stall = 1, .waits = 1}};
    profile.resident_blocks = 1;
    const auto blocks = block_of(32, 0);
    const AtomicLoad load(profile, kUnits);
    Shares shares{.active_sms = 4, .l2_bytes = 1 << 20, .atomics = &load, .atomic_shares = load.shares_of(blocks, 1)};
    const auto timeline = replay_sm(profile, rates, shares, blocks);
    EXPECT_DOUBLE_EQ(timeline.busy.at(kOneSector), 128 * 10);
    EXPECT_NEAR(timeline.cycles, 128 * 10 + 200, 20);
    EXPECT_DOUBLE_EQ(timeline.l2_atomic_bytes, 32) << "the sector counts once";
    shares.contention = false;
    EXPECT_LT(replay_sm(profile, rates, shares, blocks).cycles, 300);
}

}  // namespace
}  // namespace gputomo::predict
