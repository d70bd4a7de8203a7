// Queues of blocks, the order of loads, barriers, and serial starts of blocks.
#include "predict/static/queues.hpp"
#include "predicting.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <optional>

namespace gputomo::predict::testing {
namespace {

TEST(Queues, LoneBlockNeverWaits) {
    EXPECT_NEAR(queued_throughput(std::array<Station, 2>{{{100}, {20}}}, 1000, 1), 1 / 1000.0, 1e-12);
    EXPECT_NEAR(queued_throughput(std::array<Station, 2>{{{100}, {20}}}, 50, 1), 1 / 100.0,
                1e-12);  // no less than its longest service
    // Warps of a block use several resources at once, so that their services add up to more than the block's latency.
    EXPECT_NEAR(queued_throughput(std::array<Station, 3>{{{100}, {70}, {50}}}, 150, 1), 1 / 150.0, 1e-12);
}

TEST(Queues, ManyBlocksReachTheRateOfTheBusiestStation) {
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

TEST(Queues, TwoBlocksAtTwoEqualStationsFollowTheFormula) {
    // A balanced network of two stations reaches n / (n + 1) of the rate of each.
    for (const int blocks : {1, 2, 5})
        EXPECT_NEAR(queued_throughput(std::array<Station, 2>{{{10}, {10}}}, 20, blocks), blocks / (10.0 * (blocks + 1)),
                    1e-12);
}

TEST(Queues, InterpolatesFractionalBlocks) {
    const std::array stations{Station{100}};
    EXPECT_NEAR(queued_throughput(stations, 1000, 2.5),
                (queued_throughput(stations, 1000, 2) + queued_throughput(stations, 1000, 3)) / 2, 1e-12);
    EXPECT_EQ(queued_throughput(stations, 1000, 0), 0);
}

TEST(Queues, BlocksWaitLessForRegularServices) {
    // One of two blocks is in service for a tenth of the time. The other finds that service half over.
    const auto rate = [](std::optional<double> jitter, double blocks) {
        return queued_throughput(std::array{Station{.cycles = 100, .jitter = jitter}}, 1000, blocks);
    };
    constexpr double kByChance = 1e6;
    EXPECT_NEAR(2 / rate({}, 2), 1000 + 100 * 0.1, 1e-9);
    EXPECT_NEAR(2 / rate(kByChance, 2), 1000 + 100 * 0.05, 1e-9);
    for (const double blocks : {5.0, 9.0, 12.0, 40.0}) {
        EXPECT_GT(rate(kByChance, blocks), rate({}, blocks));
        EXPECT_LT(rate(kByChance, blocks), std::min(blocks / 1000, 0.01) + 1e-12);
    }
}

TEST(Queues, BlocksHardlyWaitIfTheyReturnRegularly) {
    const auto rate = [](double jitter, double blocks) {
        return queued_throughput(std::array{Station{.cycles = 100, .jitter = jitter}}, 1000, blocks);
    };
    for (const double blocks : {2.0, 7.0}) EXPECT_NEAR(rate(0, blocks), blocks / 1000, 1e-12);
    EXPECT_NEAR(rate(0, 12), 0.01, 1e-12);
    // A block returns every 1000 cycles with a deviation of 200. It waits twice the square of a fifth of what blocks
    // that arrive at random wait.
    EXPECT_NEAR(2 / rate(200, 2), 1000 + 100 * 0.05 * 2 * 0.04, 1e-9);
    double before = rate(0, 9);
    for (const double jitter : {20.0, 60.0, 200.0, 1000.0}) {
        EXPECT_LE(rate(jitter, 9), before);
        before = rate(jitter, 9);
    }
}

TEST(Queues, BlocksDoNotWaitForUncontendedCycles) {
    const auto fed = [](double cycles) {
        return std::array<Station, 2>{{{.cycles = 100}, {.cycles = 100, .uncontended = cycles}}};
    };
    const auto whole = queued(fed(100), 1000, 8), half = queued(fed(50), 1000, 8), none = queued(fed(0), 1000, 8);
    EXPECT_EQ(whole.waiting[1], 0);
    EXPECT_NEAR(whole.throughput, queued_throughput(std::array{Station{.cycles = 100}}, 1000, 8), 1e-12);
    EXPECT_GT(half.waiting[1], 0);
    EXPECT_GT(half.throughput, none.throughput);
    EXPECT_LT(half.throughput, whole.throughput);
    for (const auto& found : {whole, half, none})
        EXPECT_NEAR(8 / found.throughput, 1000 + found.waiting[0] + found.waiting[1], 1e-9);
}

TEST(Spread, WarpWaitsForItsSlowestLoad) {
    const auto one_warp = [](const std::string& body) {
        const auto found = predicted(compiled(ptx_of(body + "st.global.f32 [%rd1], %f9;")), "gtx980");
        return found.points.front().warps / found.points.front().queued_warps_per_cycle - found.latency;
    };
    const double one = one_warp("ld.global.f32 %f1, [%rd1]; add.f32 %f9, %f1, %f1;");
    const double two = one_warp("ld.global.f32 %f1, [%rd1]; ld.global.f32 %f2, [%rd1+65536]; add.f32 %f9, %f1, %f2;");
    const double chained = one_warp("ld.global.u64 %rd2, [%rd1]; ld.global.f32 %f3, [%rd2]; add.f32 %f9, %f3, %f3;");
    // The larger of two uniform random numbers between -1 and 1 is 1/3 on average; sums keep their mean.
    const double spread = (476 - 300) / 2.0 / 350;  // Volkov 2016, Table 6.6
    EXPECT_NEAR(two - one, spread * 368 / 3, 6);
    EXPECT_NEAR(chained, one, 6);
}

TEST(Writes, DelayReadsInProportionToTheirMemoryTime) {
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
    const double share =
        12 / after * 32 /
        (*machine.memory.read_bandwidth / static_cast<double>(*machine.topology.sms) / (*machine.clock.sm_mhz / 1000));
    const double write_cost =
        machine.memory.copy_bandwidth ? 2 * *machine.memory.read_bandwidth / *machine.memory.copy_bandwidth - 1 : 1;
    EXPECT_NEAR(after - before, 1000 * share * write_cost, 0.1 * (after - before));
    EXPECT_GT(after, before + 50);
}

TEST(Writes, DelayReadsOnceIfTheMemoryIsSaturated) {
    // Copies wait in the queue of a nearly saturated memory. A described delay up to that wait adds nothing, and a
    // longer one adds the difference.
    auto machine = machine_named("gtx980");
    machine.launch.block_interval = {};
    const auto copy =
        compiled(ptx_of("mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4; add.s64 %rd3, %rd1, %rd2; ld.global.f32 %f1, "
                        "[%rd3]; st.global.f32 [%rd3+65536], %f1;"));
    const auto cycles = [&](double delay) {
        if (delay > 0) machine.memory.write_delay.set(delay);
        const auto found = predict(copy, machine, {}, "gtx980");
        const auto point = std::ranges::find(found.points, 40, &Point::warps);
        return point->warps / point->queued_warps_per_cycle;
    };
    const double before = cycles(0), small = cycles(20), large = cycles(1000), larger = cycles(1200);
    EXPECT_DOUBLE_EQ(small, before);
    EXPECT_GT(large, before + 50);
    EXPECT_GT(larger, large + 20);
}

TEST(LoadOrder, IndependentLoadsOverlapEvenIfEachIsUsedAtOnce) {
    const auto latency = [](const std::string& body) {
        return predicted(compiled(ptx_of(body + "st.global.f32 [%rd1], %f9;")), "gtx980").latency;
    };
    const double one = latency("ld.global.f32 %f1, [%rd1]; add.f32 %f9, %f1, %f1;");
    const double two = latency(
        "ld.global.f32 %f1, [%rd1]; add.f32 %f2, %f1, %f1; ld.global.f32 %f3, [%rd1+128]; add.f32 %f9, %f2, %f3;");
    EXPECT_LT(two, one + 20);
    const double behind_a_store = latency(
        "ld.global.f32 %f1, [%rd1]; add.f32 %f2, %f1, %f1; st.global.f32 [%rd1], %f2; ld.global.f32 %f3, [%rd1+128]; "
        "add.f32 %f9, %f2, %f3;");
    EXPECT_GT(behind_a_store, one + 300);
    const double chased = latency("ld.global.u64 %rd2, [%rd1]; ld.global.f32 %f3, [%rd2]; add.f32 %f9, %f3, %f3;");
    EXPECT_GT(chased, one + 300);
}

TEST(Barriers, WaitForAllWarpsOfTheBlockAtTheBanks) {
    std::string body;
    for (int i = 0; i < 32; ++i) body += "ld.shared.f32 %f1, [s+" + std::to_string(4 * i) + "];";
    const auto code = compiled(ptx_of("mov.u32 %r1, %tid.x;" + body + "bar.sync 0; st.global.f32 [%rd1], %f1;"));
    const double alone = predicted(code, "gtx980").latency,
                 few = predicted(code, "gtx980", {.warps_of_block = 1}).latency,
                 many = predicted(code, "gtx980", {.warps_of_block = 32}).latency;
    EXPECT_DOUBLE_EQ(alone, few);
    EXPECT_GT(many, 32 * 31);  // a load of a warp takes the banks a cycle
}

TEST(Barriers, DelayWarpsLongBeforeAResourceIsSaturated) {
    // 32 dependent loads; the banks could serve many times as many.
    std::string body = "mov.u32 %r1, s;";
    for (int i = 0; i < 32; ++i) body += "ld.shared.u32 %r1, [%r1];";
    const auto code = compiled(ptx_of(body + "add.u32 %r1, %r1, 4; bar.sync 0; st.global.u32 [%rd1], %r1;"));
    const auto latency = [&](int warps) { return predicted(code, "gtx980", {.warps_of_block = warps}).latency; };
    const double alone = latency(1), eight = latency(8), sixteen = latency(16);
    EXPECT_GT(alone, 32 * 24);
    EXPECT_GT(eight, alone + 5);
    EXPECT_GT(sixteen, eight + 5);
    EXPECT_LT(sixteen, alone + 16 * 32 * 2);  // all at the banks, and at the scheduler, one after the other
}

TEST(Starts, SerialBlockStartsBoundSmallKernels) {
    auto machine = machine_named("gtx980");
    machine.launch.block_interval.set(10);
    const auto code = compiled(ptx_of("st.global.f32 [%rd1], %f1;"));
    const auto small = predict(code, machine, {.warps_of_block = 1}, "gtx980"),
               large = predict(code, machine, {.warps_of_block = 32}, "gtx980");
    EXPECT_EQ(small.limited_by, "starts of blocks");
    EXPECT_DOUBLE_EQ(small.bound, 10 * 16);
    EXPECT_LT(large.bound, small.bound / 10);
    machine.launch.warp_interval.set(25);
    EXPECT_DOUBLE_EQ(predict(code, machine, {.warps_of_block = 32}, "gtx980").bound, 25);
}

}  // namespace
}  // namespace gputomo::predict::testing
