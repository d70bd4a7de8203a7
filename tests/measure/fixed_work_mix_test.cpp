// Occupancy over time: from given starts and ends, and on simulated GPUs whose schedulers have unequal numbers of
// warps.
#include "measure/mix/fixed_work_mix.hpp"

#include "machine/json.hpp"
#include "sim/simulator.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

namespace gputomo::measure {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;

TEST(OccupancyHistory, FollowsStartsAndEndsOfEachSm) {
    // SM 3 has one warp from 10 to 110 and another from 60 to 110. SM 5, whose clock differs and wraps round, has one
    // for 50 cycles.
    const WarpLifetime warps[] = {{3, 60, 110}, {5, 0xfffffff0, 34}, {3, 10, 110}};
    const auto history = history_of(warps);
    EXPECT_EQ(history.attained, 1) << "SM 5 never had two";
    EXPECT_EQ(history.cycles, 100);
    EXPECT_THAT(history.shares, ElementsAre(0, DoubleNear(100.0 / 150, 1e-9), DoubleNear(50.0 / 150, 1e-9)));
    EXPECT_NEAR(history.mean, 200.0 / 150, 1e-9);
    EXPECT_EQ(all_but(history.shares, 0.5), 1);
    EXPECT_EQ(all_but(history.shares, 0.7), 2);
    EXPECT_THAT(history.middle, ElementsAre(0, DoubleNear((25.0 + 25) / 75, 1e-9), DoubleNear(25.0 / 75, 1e-9)))
        << "SM 3 from 35 to 85";
    EXPECT_EQ(history.ended_early, 0);
    const auto steps = steps_of(warps, 3);
    ASSERT_EQ(steps.size(), 3U);
    EXPECT_EQ(steps[1].cycles, 50);
    EXPECT_EQ(steps[1].warps, 2);
    EXPECT_EQ(steps[2].warps, 0);
    EXPECT_TRUE(steps_of(warps, 4).empty());
    EXPECT_THROW((void)history_of({}), std::logic_error);
}

TEST(OccupancyHistory, MeasuresTheTailWithFewWarps) {
    const WarpLifetime warps[] = {{0, 0, 60}, {0, 0, 60}, {0, 0, 60}, {0, 0, 100}};
    const auto history = history_of(warps);
    EXPECT_NEAR(history.tail, 0.4, 1e-9);
    EXPECT_NEAR(history.ended_early, 0.75, 1e-9);
}

TEST(OccupancyHistory, CountsAnImmediatelyReplacedWarpAsResident) {
    const WarpLifetime warps[] = {{0, 0, 40}, {0, 40, 90}};
    EXPECT_THAT(history_of(warps).shares, ElementsAre(0, 1));
}

std::unique_ptr<sim::SimulatedDevice> quarter_of(const std::string& name) {
    auto machine = machine::load(std::string(GPUTOMO_SOURCE_DIR) + "/machines/" + name + ".json");
    machine.topology.sms.set(2);
    return sim::make_device(machine, {.id = "sim:" + name, .seed = 1});
}

TEST(FixedWorkMix, WarpsEndEarlyOnSchedulersWithFewerWarps) {  // Volkov 2016, 5.8 and Fig. 5.2
    const auto gpu = quarter_of("gtx680");
    auto none = LinkedArray::ring(*gpu, 1);
    FixedWorkMix mix(*gpu, {.access = MixAccess::sfu, .alpha = 0, .loop_length = 120}, none);
    const auto iterations = mix.iterations_for(6'000);
    const auto of_one_block = [&](int warps) {
        const FixedWorkMix::Work work{{1, warps}, 1, iterations};
        auto history = history_of(mix.run(work));
        const double rate = mix.rate(work, history);
        return std::pair(std::move(history), rate);
    };
    const auto [equal, rate] = of_one_block(16);
    const auto [unequal, less] = of_one_block(17);
    EXPECT_EQ(unequal.attained, 17);
    EXPECT_NEAR(less / rate, 17.0 / 20, 0.02)
        << "one of four schedulers has a fifth warp to do when the others are done";
    EXPECT_EQ(all_but(unequal.shares, 0.05), 5);
    EXPECT_EQ(all_but(equal.shares, 0.05), 16);
}

TEST(FixedWorkMix, OversubscribedSmsTakeTheNextBlock) {
    const auto gpu = quarter_of("gtx980");
    auto none = LinkedArray::ring(*gpu, 1);
    FixedWorkMix mix(*gpu, {.access = MixAccess::shared, .alpha = 0, .loop_length = 120}, none);
    const FixedWorkMix::Work work{{4, 2}, 5, mix.iterations_for(6'000)};
    const auto warps = mix.run(work);
    EXPECT_EQ(warps.size(), 2U * 4 * 2 * 5);
    const auto history = history_of(warps);
    EXPECT_EQ(history.attained, 8) << "shared memory lets no more in";
    EXPECT_GT(history.mean, 7);
}

TEST(FixedWorkMix, StreamsReadEveryLineOnce) {
    const auto gpu = quarter_of("gtx680");
    LinkedArray stream(*gpu, 64, 32);
    FixedWorkMix mix(*gpu, {.access = MixAccess::global, .alpha = 0}, stream);
    const FixedWorkMix::Work work{{16, 4}, 1, 2};
    const auto history = history_of(mix.run(work));
    EXPECT_EQ(history.attained, 64) << "as many as fit, in sixteen blocks (5.6)";
    EXPECT_GT(history.cycles, 2 * 16 * 301) << "two turns of sixteen loads from memory";
}

}  // namespace
}  // namespace gputomo::measure
