// Queues of blocks, the order of loads, barriers at which a block meets, and blocks that start one after the other.
#include "predict/queues.hpp"
#include "predicting.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

namespace gputomo::predict::testing {
namespace {

TEST(Queues, OneBlockNeverWaits) {
    EXPECT_NEAR(queued_throughput(std::array<Station, 2>{{{100}, {20}}}, 1000, 1), 1 / 1000.0, 1e-12);
    EXPECT_NEAR(queued_throughput(std::array<Station, 2>{{{100}, {20}}}, 50, 1), 1 / 100.0, 1e-12);  // no less than its longest service
    // Warps of a block use one resource while others of it use another: what they use is more than the block takes.
    EXPECT_NEAR(queued_throughput(std::array<Station, 3>{{{100}, {70}, {50}}}, 150, 1), 1 / 150.0, 1e-12);
}

TEST(Queues, ManyBlocksReachTheBusiestStationAndNeverPassIt) {
    double before = 0;
    for (int blocks = 1; blocks <= 64; ++blocks) {
        const double rate = queued_throughput(std::array<Station, 2>{{{100}, {20}}}, 1000, blocks);
        EXPECT_GE(rate, before);
        EXPECT_LT(rate, 1 / 100.0 + 1e-12);
        EXPECT_LE(rate, blocks / 1000.0 + 1e-12);
        before = rate;
    }
    EXPECT_GT(before, 0.99 / 100);
}

TEST(Queues, TwoEqualStationsAndTwoBlocksShareAsTheFormulaSays) {
    // Balanced network of two stations: n / (n + 1) of the rate of each.
    for (const int blocks : {1, 2, 5}) EXPECT_NEAR(queued_throughput(std::array<Station, 2>{{{10}, {10}}}, 20, blocks), blocks / (10.0 * (blocks + 1)), 1e-12);
}

TEST(Queues, PartsOfABlockAreInBetween) {
    const std::array stations{Station{100}};
    EXPECT_NEAR(queued_throughput(stations, 1000, 2.5), (queued_throughput(stations, 1000, 2) + queued_throughput(stations, 1000, 3)) / 2, 1e-12);
    EXPECT_EQ(queued_throughput(stations, 1000, 0), 0);
}

TEST(Queues, BlocksWaitLessForRegularServices) {
    // Two blocks, one of which is served for a tenth of the time: the other finds it half done.
    const auto rate = [](bool regular, double blocks) { return queued_throughput(std::array{Station{100, regular}}, 1000, blocks); };
    EXPECT_NEAR(2 / rate(false, 2), 1000 + 100 * 0.1, 1e-9);
    EXPECT_NEAR(2 / rate(true, 2), 1000 + 100 * 0.05, 1e-9);
    for (const double blocks : {5.0, 9.0, 12.0, 40.0}) {
        EXPECT_GT(rate(true, blocks), rate(false, blocks));
        EXPECT_LT(rate(true, blocks), std::min(blocks / 1000, 0.01) + 1e-12);
    }
}

TEST(Spread, AWarpWaitsForTheLastOfItsLoads) {
    const auto one_warp = [](const std::string& body) {
        const auto found = predicted(compiled(ptx_of(body + "st.global.f32 [%rd1], %f9;")), "gtx980");
        return found.points.front().warps / found.points.front().queued_warps_per_cycle - found.latency;
    };
    const double one = one_warp("ld.global.f32 %f1, [%rd1]; add.f32 %f9, %f1, %f1;");
    const double two = one_warp("ld.global.f32 %f1, [%rd1]; ld.global.f32 %f2, [%rd1+65536]; add.f32 %f9, %f1, %f2;");
    const double chained = one_warp("ld.global.u64 %rd2, [%rd1]; ld.global.f32 %f3, [%rd2]; add.f32 %f9, %f3, %f3;");
    // The larger of two numbers that are all alike between -1 and 1 is 1/3 on average; sums keep their mean.
    EXPECT_NEAR(two - one, 0.3 * 368 / 3, 6);
    EXPECT_NEAR(chained, one, 6);
}

TEST(Writes, DelayReadsInProportionToTheTimeThatTheyTakeOfTheMemory) {
    auto machine = machine_named("gtx980");
    const auto copy = compiled(ptx_of("ld.global.f32 %f1, [%rd1]; st.global.f32 [%rd1+65536], %f1;"));
    const auto read = compiled(ptx_of("ld.global.f32 %f1, [%rd1]; add.f32 %f2, %f1, %f1;"));
    const auto cycles = [&](const Code& code, std::size_t point) {
        const auto found = predict(code, machine, {}, "gtx980").points.at(point);
        return found.warps / found.queued_warps_per_cycle;
    };
    const double before = cycles(copy, 2), reads = cycles(read, 2);
    machine.memory.write_delay.set(1000);
    const double after = cycles(copy, 2);
    EXPECT_DOUBLE_EQ(cycles(read, 2), reads);
    // 12 warps; all threads write one word, so that its sector of 32 bytes takes its share of the bandwidth.
    const double share = 12 / after * 32 / (*machine.memory.read_bandwidth / *machine.topology.sms / (*machine.clock.sm_mhz / 1000));
    const double write_cost = machine.memory.copy_bandwidth ? 2 * *machine.memory.read_bandwidth / *machine.memory.copy_bandwidth - 1 : 1;
    EXPECT_NEAR(after - before, 1000 * share * write_cost, 0.1 * (after - before));
    EXPECT_GT(after, before + 50);
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
