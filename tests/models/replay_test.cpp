// The model of our own against what is known without it, and against simulated GPUs, which it doesn't know.
#include "gpus.hpp"

#include "models/replay.hpp"

#include <gtest/gtest.h>

namespace gputomo::models::testing {
namespace {

TEST(Replay, AloneAWarpHasItsLatency) {
    const ReplayStations stations{.work = 10, .alone = 6, .slot = 1, .delay = 400, .service = 15};
    EXPECT_NEAR(replayed_throughput(stations), 1.0 / 460, 0.02 / 460);  // latencies are spread
}

TEST(Replay, WhatNeverWaitsAddsUp) {
    ReplayStations stations{.schedulers = 4, .work = 10, .alone = 6, .slot = 1, .delay = 400, .service = 0.01};
    stations.warps = 24;  // six a scheduler: each finds its slot free
    EXPECT_NEAR(replayed_throughput(stations), 24.0 / 460, 0.02 * 24 / 460);
}

TEST(Replay, NoMoreThanTheServerAndTheSlotsAllow) {
    ReplayStations stations{.sms = 4, .schedulers = 1, .warps = 48, .work = 20, .alone = 20, .slot = 4, .delay = 100, .service = 50};
    EXPECT_NEAR(replayed_throughput(stations), 1.0 / 200, 0.01 / 200);  // four SMs, one access every 50 cycles
    stations.service = 1;
    EXPECT_NEAR(replayed_throughput(stations), 1.0 / 80, 0.01 / 80);
}

TEST(SharedTurns, BetweenTheBasicModelAndItsSum) {
    for (const auto* name : kGpus) {
        const auto p = gpu(name);
        for (const double alpha : {1.0, 8.0, 32.0, 64.0, 256.0})
            for (int warps = p.schedulers; warps <= p.max_warps; warps += 3 * p.schedulers) {
                const double ours = ipc("shared-turns", p, alpha, warps);
                EXPECT_LE(ours, 1.02 * ipc("volkov-basic", p, alpha, warps)) << name << ' ' << alpha << ' ' << warps;
                EXPECT_GE(ours, 0.95 * ipc("zhang-owens-add", p, alpha, warps)) << name << ' ' << alpha << ' ' << warps;
            }
    }
}

TEST(SharedTurns, SevenWarpsForSixSlotsLoseWhatTheBasicModelGivesThem) {
    // Simulated GTX 980, 28 warps, `gputomo evaluate`: the basic model is 13.2% and 9.9% too high.
    const auto p = gpu("gtx980");
    for (const auto& [alpha, basic_over_measured] : {std::pair{362.0, 1.132}, {181.0, 1.099}}) {
        const double measured = ipc("volkov-basic", p, alpha, 28) / basic_over_measured;
        EXPECT_NEAR(ipc("shared-turns", p, alpha, 28) / measured, 1, 0.03) << alpha;
    }
}

TEST(SharedTurns, LatencyUnderLoadCounts) {
    auto p = gpu("gtx980");
    p.loaded_latency = {{0.001, 368}, {0.05, 368}, {0.06, 500}};
    EXPECT_NEAR(ipc("shared-turns", p, 4, 8), ipc("shared-turns", gpu("gtx980"), 4, 8), 1e-3);
    EXPECT_LT(ipc("shared-turns", p, 4, 24), 0.95 * ipc("shared-turns", gpu("gtx980"), 4, 24));
}

}  // namespace
}  // namespace gputomo::models::testing
