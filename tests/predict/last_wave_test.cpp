// Launches whose last blocks do not fill the GPU. An H200 placed them as the comments say
// (docs/notes/2026-11-26-lines-that-all-sms-read.md).
#include "predict/launch/launch_prediction.hpp"

#include "machine/json.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>

namespace gputomo::predict {
namespace {

constexpr std::uint64_t kSms = 132;
constexpr double kInterval = 16, kSteps = 400;

struct Recorded {
    std::uint64_t uneven = 0;  ///< one block in so many executes half of the instructions; 0: none
    std::uint32_t waves = 4;   ///< of each SM
    std::uint8_t stall = 1;    ///< cycles of a warp from one instruction to the next
    bool of_sm = true;         ///< one unit serves all schedulers
    std::string priority = "oldest";
};

/// Blocks of one warp, whose instructions need a unit that all blocks of an SM share. In units of what a block needs.
double cycles_of(std::uint64_t blocks, std::uint32_t resident, const Recorded& recorded = {}) {
    launch::LaunchProfile profile;
    profile.kernel = "k";
    profile.blocks = blocks;
    profile.threads_of_block = 32;
    profile.resident_blocks = resident;
    profile.units = {{"sfu", recorded.of_sm}};
    profile.steps.assign(static_cast<std::size_t>(kSteps), {.unit = 0, .interval = kInterval, .stall = recorded.stall});
    profile.executed.assign(profile.steps.size(), 1);
    profile.threads.assign(profile.steps.size(), 32);
    for (const std::uint64_t sm : {std::uint64_t{0}, kSms / 2, kSms - 1}) {
        auto& of_sm = profile.sms.emplace_back();
        for (std::uint64_t block = sm; block < blocks && of_sm.size() < std::size_t{recorded.waves} * resident;
             block += kSms) {
            auto& trace = of_sm.emplace_back();
            trace.block = block;
            trace.warps.resize(1);
            const bool half = recorded.uneven != 0 && of_sm.size() % recorded.uneven == 0;
            for (std::uint32_t s = 0; s < profile.steps.size() / (half ? 2 : 1); ++s)
                trace.warps[0].push_back({.step = s});
            profile.sampled.push_back({.block = block, .instructions = static_cast<double>(trace.warps[0].size())});
        }
    }
    static const auto h200 = machine::load(GPUTOMO_SOURCE_DIR "/machines/h200.json");
    auto machine = h200;
    machine.issue.block_priority.set(recorded.priority);
    return predict_launch(profile, machine, "h200").cycles / (kInterval * kSteps);
}

/// Cycles of blocks of one warp, each of whose threads adds to one address of all blocks.
double cycles_of_atomics(std::uint64_t blocks, std::uint32_t resident) {
    constexpr std::size_t kAtomics = 50, kThreads = 32;
    launch::LaunchProfile profile;
    profile.kernel = "k";
    profile.blocks = blocks;
    profile.threads_of_block = kThreads;
    profile.resident_blocks = resident;
    profile.steps.assign(kAtomics, {.kind = launch::StepKind::global, .stall = 2});
    profile.executed.assign(kAtomics, 1);
    profile.threads.assign(kAtomics, kThreads);
    profile.footprint = {.read = 32, .written = 32};
    profile.atomic_sectors = {{0, static_cast<double>(blocks * kAtomics * kThreads)}};
    for (const std::uint64_t sm : {std::uint64_t{0}, kSms / 2, kSms - 1}) {
        auto& of_sm = profile.sms.emplace_back();
        for (std::uint64_t block = sm; block < blocks && of_sm.size() < std::size_t{4} * resident; block += kSms) {
            auto& trace = of_sm.emplace_back();
            trace.block = block;
            trace.warps.resize(1);
            for (std::uint32_t s = 0; s < kAtomics; ++s) {
                trace.warps[0].push_back({.step = s, .access = s});
                trace.accesses.push_back({.first = static_cast<std::uint32_t>(trace.lines.size()),
                                          .lines = kThreads,
                                          .kind = launch::AccessKind::atomic,
                                          .stage_cycles = 1});
                trace.lines.insert(
                    trace.lines.end(), kThreads,
                    {.line = 0, .sectors = 1, .partial = true, .again = s > 0, .lone = true, .asked = 4});
            }
            profile.sampled.push_back({.block = block, .instructions = kAtomics});
        }
    }
    static const auto machine = machine::load(GPUTOMO_SOURCE_DIR "/machines/h200.json");
    const double cycles = predict_launch(profile, machine, "h200").cycles;
    return cycles / (static_cast<double>(blocks * kAtomics * kThreads) * *machine.accesses.at("l2_atomic").part_cycles);
}

TEST(LastWave, AsksOnceForTheAtomicsOfTheGrid) {
    // One unit performs the atomics of all blocks one after the other, in whichever wave they are.
    for (const std::uint64_t blocks : {2 * kSms, 3 * kSms, 2 * kSms + 1, 4 * kSms - 8, 5 * kSms})
        EXPECT_NEAR(cycles_of_atomics(blocks, 2), 1, 0.03) << blocks;
}

TEST(LastWave, TakesAsLongAsItsBlocksAlone) {
    EXPECT_NEAR(cycles_of(kSms, 1), 1, 0.1);
    EXPECT_NEAR(cycles_of(kSms + 1, 1), 2, 0.1);
    EXPECT_NEAR(cycles_of(kSms + 38, 1), 2, 0.1);
    EXPECT_NEAR(cycles_of(2 * kSms, 1), 2, 0.1);
    EXPECT_NEAR(cycles_of(2 * kSms + 36, 1), 3, 0.12) << "two replacements";
}

TEST(LastWave, GoesToTheSmThatIsFreeAsOftenAsItHoldsBlocks) {
    EXPECT_NEAR(cycles_of(2 * kSms, 2), 2, 0.1);
    EXPECT_NEAR(cycles_of(2 * kSms + 1, 2), 3, 0.1);
    // 18 SMs get two blocks each, and not 36 SMs one.
    EXPECT_NEAR(cycles_of(2 * kSms + 36, 2), 4, 0.1);
    EXPECT_NEAR(cycles_of(3 * kSms, 2), 4, 0.1);
    EXPECT_NEAR(cycles_of(4 * kSms, 2), 4, 0.1);
}

TEST(LastWave, BeginsWhereTheOldestBlockEnds) {
    // A scheduler has two blocks, each of which could keep its unit busy alone.
    const Recorded oldest{.of_sm = false}, in_turn{.of_sm = false, .priority = "none"};
    EXPECT_NEAR(cycles_of(8 * kSms, 8, oldest), 2, 0.25);
    EXPECT_NEAR(cycles_of(8 * kSms, 8, in_turn), 2, 0.25);
    EXPECT_NEAR(cycles_of(8 * kSms + 36, 8, oldest), 3, 0.25);
    EXPECT_NEAR(cycles_of(8 * kSms + 36, 8, in_turn), 4, 0.25);
}

TEST(LastWave, IsSpreadWhereBlocksOfAnSmEndApart) {
    // One of two blocks ends after half of the time, and its place is the one that a block left over takes.
    const double two = cycles_of(2 * kSms, 2, {.uneven = 2}), more = cycles_of(2 * kSms + 36, 2, {.uneven = 2});
    EXPECT_GT(more, two + 0.4);
    EXPECT_LT(more, two + 1.2);
}

TEST(LastWave, FollowsWavesOfWhichOneWasRecorded) {
    // Eight warps keep the unit busy. Four of them wait for themselves, and are no measure of what four more take.
    const Recorded one{.waves = 1, .stall = 100};
    EXPECT_NEAR(cycles_of(8 * kSms, 8, one), 8, 0.2);
    EXPECT_NEAR(cycles_of(16 * kSms, 8, one), 16, 0.4);
    EXPECT_NEAR(cycles_of(64 * kSms, 8, one), 64, 2);
}

}  // namespace
}  // namespace gputomo::predict
