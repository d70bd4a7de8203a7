// How busy atomics keep their units, and what of that an SM sees.
#include "predict/launch/atomic_load.hpp"

#include "predict/launch/sm_timeline.hpp"

#include <gtest/gtest.h>

#include <random>
#include <span>
#include <unordered_map>

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

TEST(AtomicLoad, OtherSmsAskForTheUnitsThatTheGridAsks) {
    const auto profile = with_sectors({{0, 1000}});
    const AtomicLoad load(profile, kUnits);
    const auto shares = load.shares_of(block_of(10, 0), 2);
    EXPECT_DOUBLE_EQ(shares.others, (1000 - 20) / 20.0);
    EXPECT_DOUBLE_EQ(shares.parts[load.unit_of(kWord)], 1);
    EXPECT_DOUBLE_EQ(shares.largest, 1);
    EXPECT_TRUE(load.shares_of({}, 1).parts.empty()) << "nothing asks for units";
}

/// Two SMs of one block. Each block's warp has instructions of 32 requests for a line each.
launch::LaunchProfile two_sms(std::span<const std::uint64_t> first, std::span<const std::uint64_t> second) {
    launch::LaunchProfile profile;
    profile.resident_blocks = 1;
    std::unordered_map<std::uint64_t, double> requests;
    for (const auto lines : {first, second}) {
        launch::BlockTrace block;
        block.warps.resize(1);
        for (const std::uint64_t line : lines) {
            block.warps[0].push_back({.step = 0, .access = static_cast<std::uint32_t>(block.accesses.size())});
            block.accesses.push_back({.first = static_cast<std::uint32_t>(block.lines.size()),
                                      .lines = 32,
                                      .kind = launch::AccessKind::atomic,
                                      .stage_cycles = 1});
            block.lines.insert(block.lines.end(), 32, {.line = line, .sectors = 1, .partial = true, .asked = 4});
            requests[line * 4] += 32;
        }
        profile.sms.push_back({block});
    }
    for (const auto& [sector, number] : requests) profile.atomic_sectors.push_back({sector, number});
    return profile;
}

/// Random lines, others for each seed.
std::vector<std::uint64_t> random_lines(std::size_t count, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::vector<std::uint64_t> lines;
    for (std::size_t i = 0; i < count; ++i) lines.push_back(random() % 64 * 2);
    return lines;
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

/// An SM of four sends 32 requests at once to one unit of four, where the others ask for all units alike. Its requests
/// wait for each other, and not for as many of each other SM.
TEST(SmTimeline, ScatteredAtomicsOfOtherSmsAreSpreadOverAllUnits) {
    SmRates rates;
    rates.sms = 4;
    rates.l1_bytes = 1 << 16;
    rates.l2_latency = rates.memory_latency = 200;
    rates.memory_bandwidth = rates.memory_peak = 64;
    auto profile = two_sms(random_lines(40, 1), random_lines(40, 2));
    for (auto& sector : profile.atomic_sectors) sector.requests *= 2;
    profile.steps = {{.kind = launch::StepKind::global, .stall = 2, .written = 0}};
    const AtomicLoad load(profile, kUnits);
    const Shares shares{
        .active_sms = 4, .l2_bytes = 1 << 20, .atomics = &load, .atomic_shares = load.shares_of(profile.sms[0], 1)};
    const auto timeline = replay_sm(profile, rates, shares, profile.sms[0]);
    // All SMs ask 5,120 times for 3 to 4 cycles of one of four units.
    EXPECT_NEAR(timeline.cycles, 4 * 40 * 32 * 3.1 / 4, 700);
}

}  // namespace
}  // namespace gputomo::predict
