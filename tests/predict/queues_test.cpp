// Queues of blocks, the order of loads, barriers at which a block meets, and blocks that start one after the other.
#include "predict/queues.hpp"
#include "predicting.hpp"

#include <gtest/gtest.h>

#include <array>

namespace gputomo::predict::testing {
namespace {

TEST(Queues, OneBlockNeverWaits) {
    EXPECT_NEAR(queued_throughput(std::array{100.0, 20.0}, 1000, 1), 1 / 1000.0, 1e-12);
    EXPECT_NEAR(queued_throughput(std::array{100.0, 20.0}, 50, 1), 1 / 100.0, 1e-12);  // no less than its longest service
    // Warps of a block use one resource while others of it use another: what they use is more than the block takes.
    EXPECT_NEAR(queued_throughput(std::array{100.0, 70.0, 50.0}, 150, 1), 1 / 150.0, 1e-12);
}

TEST(Queues, ManyBlocksReachTheBusiestStationAndNeverPassIt) {
    double before = 0;
    for (int blocks = 1; blocks <= 64; ++blocks) {
        const double rate = queued_throughput(std::array{100.0, 20.0}, 1000, blocks);
        EXPECT_GE(rate, before);
        EXPECT_LT(rate, 1 / 100.0 + 1e-12);
        EXPECT_LE(rate, blocks / 1000.0 + 1e-12);
        before = rate;
    }
    EXPECT_GT(before, 0.99 / 100);
}

TEST(Queues, TwoEqualStationsAndTwoBlocksShareAsTheFormulaSays) {
    // Balanced network of two stations: n / (n + 1) of the rate of each.
    for (const int blocks : {1, 2, 5}) EXPECT_NEAR(queued_throughput(std::array{10.0, 10.0}, 20, blocks), blocks / (10.0 * (blocks + 1)), 1e-12);
}

TEST(Queues, PartsOfABlockAreInBetween) {
    const std::array stations{100.0};
    EXPECT_NEAR(queued_throughput(stations, 1000, 2.5), (queued_throughput(stations, 1000, 2) + queued_throughput(stations, 1000, 3)) / 2, 1e-12);
    EXPECT_EQ(queued_throughput(stations, 1000, 0), 0);
}

TEST(LoadOrder, IndependentLoadsOverlapAlthoughEachIsUsedAtOnce) {
    const auto latency = [](const std::string& body) { return predicted(compiled(ptx_of(body + "st.global.f32 [%rd1], %f9;")), "gtx980").latency; };
    const double one = latency("ld.global.f32 %f1, [%rd1]; add.f32 %f9, %f1, %f1;");
    const double two = latency("ld.global.f32 %f1, [%rd1]; add.f32 %f2, %f1, %f1; ld.global.f32 %f3, [%rd1+128]; add.f32 %f9, %f2, %f3;");
    EXPECT_LT(two, one + 20);
    const double behind_a_store =
        latency("ld.global.f32 %f1, [%rd1]; add.f32 %f2, %f1, %f1; st.global.f32 [%rd1], %f2; ld.global.f32 %f3, [%rd1+128]; add.f32 %f9, %f2, %f3;");
    EXPECT_GT(behind_a_store, one + 300);
    const double chased = latency("ld.global.u64 %rd2, [%rd1]; ld.global.f32 %f3, [%rd2]; add.f32 %f9, %f3, %f3;");
    EXPECT_GT(chased, one + 300);
}

TEST(Barriers, ABlockMeetsWhenItsWarpsHaveHadTheirTurnAtTheBanks) {
    std::string body;
    for (int i = 0; i < 32; ++i) body += "ld.shared.f32 %f1, [s+" + std::to_string(4 * i) + "];";
    const auto code = compiled(ptx_of("mov.u32 %r1, %tid.x;" + body + "bar.sync 0; st.global.f32 [%rd1], %f1;"));
    const double alone = predicted(code, "gtx980").latency, few = predicted(code, "gtx980", {.warps_of_block = 1}).latency,
                 many = predicted(code, "gtx980", {.warps_of_block = 32}).latency;
    EXPECT_DOUBLE_EQ(alone, few);
    EXPECT_GT(many, 32 * 31);  // a load of a warp takes the banks a cycle
}

TEST(Starts, BlocksThatStartOneAfterTheOtherBoundSmallKernels) {
    auto machine = machine_named("gtx980");
    machine.launch.block_interval.set(10);
    const auto code = compiled(ptx_of("st.global.f32 [%rd1], %f1;"));
    const auto small = predict(code, machine, {.warps_of_block = 1}, "gtx980"), large = predict(code, machine, {.warps_of_block = 32}, "gtx980");
    EXPECT_EQ(small.limited_by, "starts of blocks");
    EXPECT_DOUBLE_EQ(small.bound, 10 * 16);
    EXPECT_LT(large.bound, small.bound / 10);
    machine.launch.warp_interval.set(25);
    EXPECT_DOUBLE_EQ(predict(code, machine, {.warps_of_block = 32}, "gtx980").bound, 25);
}

}  // namespace
}  // namespace gputomo::predict::testing
