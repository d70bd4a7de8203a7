// gputomo's own model against results that are known without it, and against simulated GPUs.
#include "gpus.hpp"

#include "models/replay.hpp"

#include <gtest/gtest.h>

namespace gputomo::models::testing {
namespace {

double throughput_of(const ReplayStations& stations) { return replayed(stations).throughput; }

TEST(Replay, LoneWarpTakesItsLatency) {
    ReplayStations stations{.adds = 10, .add_latency = 6, .access_latency = 400, .service = 15};
    EXPECT_NEAR(throughput_of(stations), 1.0 / 460, 1e-9);
    stations.latency_spread = 0.3;
    EXPECT_NEAR(throughput_of(stations), 1.0 / 460, 0.03 / 460);
    stations.accesses = 0;
    EXPECT_NEAR(throughput_of(stations), 1.0 / 60, 1e-9);
}

TEST(Replay, WarpsThatNeverWaitAddUp) {
    const ReplayStations stations{.schedulers = 4,
                                  .warps = 24,
                                  .adds = 10,
                                  .add_latency = 6,
                                  .access_latency = 400,
                                  .service = 0.01};  // six a scheduler: each finds its slot free
    EXPECT_NEAR(throughput_of(stations), 24.0 / 460, 0.02 * 24 / 460);
    EXPECT_LT(replayed(stations).waiting, 1);
}

TEST(Replay, NeverExceedsServerAndIssueSlots) {
    ReplayStations stations{
        .sms = 4, .warps = 48, .adds = 20, .add_latency = 20, .add_slot = 4, .access_latency = 100, .service = 50};
    EXPECT_NEAR(throughput_of(stations), 1.0 / 200, 0.01 / 200);  // four SMs, one access every 50 cycles
    EXPECT_GT(replayed(stations).waiting, 1000);
    stations.service = 1;
    EXPECT_NEAR(throughput_of(stations), 1.0 / 81, 0.01 / 81);
}

TEST(Replay, FractionalSlotsAndGroupsHoldOnAverage) {
    ReplayStations stations{
        .warps = 32, .adds = 20, .add_latency = 4, .add_slot = 1.25, .access_latency = 20, .service = 1};
    EXPECT_NEAR(throughput_of(stations), 1.0 / 26, 0.02 / 26);
    stations.add_slot = 1;
    stations.adds = 0.25;  // four accesses, then an add
    stations.service = 8;
    EXPECT_NEAR(throughput_of(stations), 1.0 / 8, 0.02 / 8);
    stations.warps = 1;
    EXPECT_NEAR(throughput_of(stations), 1.0 / 21, 0.06 / 21);
}

TEST(Replay, HeldCyclesDelayAddsButNotAccesses) {
    ReplayStations stations{
        .warps = 16, .adds = 20, .add_latency = 4, .access_holds = 4, .access_latency = 20, .service = 0.01};
    EXPECT_GT(throughput_of(stations),
              1.0 / 25);  // 20 adds, an access, and 4 held, some of them together with another access
    EXPECT_LT(throughput_of(stations), 1.0 / 22);
    stations.adds = 0;
    EXPECT_NEAR(throughput_of(stations), 16.0 / 20, 0.02);
}

TEST(GputomoReplay, LiesBetweenTheBasicModelAndTheSumOfTimes) {
    for (const auto* name : kGpus) {
        const auto p = gpu(name);
        for (const double alpha : {1.0, 8.0, 32.0, 64.0, 256.0})
            for (int warps = p.schedulers; warps <= p.max_warps; warps += 3 * p.schedulers) {
                const double ours = ipc("gputomo-replay", p, alpha, warps);
                EXPECT_LE(ours, 1.03 * ipc("volkov-basic", p, alpha, warps)) << name << ' ' << alpha << ' ' << warps;
                EXPECT_GE(ours, 0.95 * ipc("zhang-owens-add", p, alpha, warps)) << name << ' ' << alpha << ' ' << warps;
            }
    }
}

TEST(GputomoReplay, SevenWarpsForSixSlotsFallShortOfTheBasicModel) {
    // Simulated GTX 980, 28 warps, `gputomo evaluate`: the basic model is 13.2% and 9.9% too high.
    const auto p = gpu("gtx980");
    for (const auto& [alpha, basic_over_measured] : {std::pair{362.0, 1.132}, {181.0, 1.099}}) {
        const double measured = ipc("volkov-basic", p, alpha, 28) / basic_over_measured;
        EXPECT_NEAR(ipc("gputomo-replay", p, alpha, 28) / measured, 1, 0.06) << alpha;
    }
}

TEST(GputomoReplay, LatenciesSpreadAsSingleLoadsDo) {
    auto machine = machine::load(std::string(GPUTOMO_SOURCE_DIR) + "/machines/h200.json");
    const auto spread = [&](Access access) { return parameters_of(machine, access).latency_spread; };
    auto& memory = machine.paths.at("global").memory_latency;
    auto& l2 = machine.caches.at("l2").latency;
    const double loaded = (476.0 - 300.0) / 2 / 350;  // Volkov 2016, Table 6.6
    memory.set(600, {.interval = {{400, 1000}}});
    l2.set(200, {.interval = {{190, 230}}});
    EXPECT_NEAR(spread(Access::global), 0.5, 1e-12);
    EXPECT_NEAR(spread(Access::l2), 0.1, 1e-12);
    EXPECT_EQ(spread(Access::shared), 0);
    // A memory whose latency is constant while it is idle varies when it is busy.
    memory.set(600, {.interval = {{599, 601}}});
    EXPECT_NEAR(spread(Access::global), loaded, 1e-12);
    memory.set(600, {});
    l2.set(200, {});
    EXPECT_NEAR(spread(Access::global), loaded, 1e-12);
    EXPECT_EQ(spread(Access::l2), 0);
}

TEST(GputomoReplay, UsesLatencyUnderLoad) {
    auto p = gpu("gtx980");
    p.loaded_latency = {{0.001, 368}, {0.05, 368}, {0.06, 500}};
    EXPECT_NEAR(ipc("gputomo-replay", p, 4, 8), ipc("gputomo-replay", gpu("gtx980"), 4, 8), 1e-3);
    EXPECT_LT(ipc("gputomo-replay", p, 4, 24), 0.95 * ipc("gputomo-replay", gpu("gtx980"), 4, 24));
}

}  // namespace
}  // namespace gputomo::models::testing
