// What a launch finds cold: code, constants and entries of TLBs that are on their way, and stores at its end.
#include "launching.hpp"
#include "machine/dram_variation.hpp"
#include "memory_fixture.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace gputomo::sim::test {
namespace {

/// Instructions pass a cache of each SM with lines of 64 bytes and one of all SMs of a TPC with lines of 128 bytes.
machine::Machine with_code(std::int64_t ahead) {
    machine::Machine m = bare_machine();
    m.caches["i1"] = make_cache({.line = 64, .sector = 64, .ways = 4, .sets = 8, .latency = 10});
    if (ahead > 0) m.caches["i1"].fetched_ahead.set(ahead);
    m.caches["i2"] = make_cache({.scope = "tpc", .line = 128, .ways = 4, .sets = 8, .latency = 60});
    m.paths["instruction"].caches.set({"i1", "i2"});
    m.paths["instruction"].memory_latency.set(700);
    return m;
}

double fetch(Rig& rig, std::uint64_t address, std::uint32_t sm = 0) {
    return rig.latency({.address = address, .bytes = 64, .sm = sm, .path = PathKind::instruction});
}

TEST(FetchedAhead, AMissBringsTheLinesBehindIt) {
    Rig rig(with_code(128));
    EXPECT_EQ(fetch(rig, 0x1000), 700);
    EXPECT_EQ(fetch(rig, 0x1040), 10);
    EXPECT_EQ(fetch(rig, 0x1080), 10);
    EXPECT_EQ(fetch(rig, 0x10C0), 10) << "0x1040 asked for the line at the same distance";
    EXPECT_EQ(fetch(rig, 0x0FC0), 700) << "nothing in front comes along";
    Rig alone(with_code(0));
    EXPECT_EQ(fetch(alone, 0x1000), 700);
    EXPECT_EQ(fetch(alone, 0x1080), 700);
}

TEST(FetchedAhead, ALineThatIsOnItsWayIsWaitedFor) {
    Rig rig(with_code(128));
    const Transaction first{.address = 0x1000, .bytes = 64, .path = PathKind::instruction};
    Transaction next = first;
    next.address = 0x1040;
    EXPECT_EQ(rig.memory->access(first, 1000), 1700);
    EXPECT_EQ(rig.memory->access(next, 1100), 1700);
}

TEST(FetchedAhead, IsAWholeNumberOfLines) {
    EXPECT_EQ(complaint(with_code(128)), "");
    const auto refused = complaint(with_code(96));
    EXPECT_NE(refused.find("caches.i1.fetched_ahead: found 96"), std::string::npos) << refused;
}

TEST(SmRate, LimitsWhatAnSmReadsFromACacheOfSeveralSms) {
    machine::Machine m = with_code(0);
    m.caches["i2"].sm_bytes_per_cycle.set(4);
    Rig rig(m);
    rig.memory->preload(PathKind::instruction, 0x1000, 0x400, {});
    const auto done = [&](std::uint64_t address, std::uint32_t sm) {
        return rig.memory->access({.address = address, .bytes = 64, .sm = sm, .path = PathKind::instruction}, 1000);
    };
    EXPECT_NEAR(done(0x1000, 0), 1060, 1);
    // The port counts in slots of 16 cycles.
    EXPECT_NEAR(done(0x1040, 0), 1076, 9) << "64 bytes take 16 cycles";
    EXPECT_NEAR(done(0x1080, 0), 1092, 9);
    EXPECT_NEAR(done(0x1000, 1), 1060, 1) << "another SM has a rate of its own";
}

TEST(Preload, FillsTheLastNearCacheOfAllSms) {
    Rig rig(with_code(0));
    rig.memory->preload(PathKind::instruction, 0x1010, 0x100, {});
    for (const std::uint32_t sm : {0U, 5U}) {
        EXPECT_EQ(fetch(rig, 0x1000, sm), 60);
        EXPECT_EQ(fetch(rig, 0x1100, sm), 60) << "the line of its last byte";
        EXPECT_EQ(fetch(rig, 0x1180, sm), 700);
    }
    rig.memory->preload(PathKind::constant, 0, 0x100, {});  // a path that is not described
    EXPECT_EQ(rig.load(0x1000), 400);
}

TEST(Preload, BringsTheRestLater) {
    Rig rig(with_code(0));
    rig.memory->preload(PathKind::instruction, 0x1000, 0x1000, {.ready = 0x400, .rate = 4});
    const auto done = [&](std::uint64_t address, double now) {
        return rig.memory->access({.address = address, .bytes = 16, .path = PathKind::instruction}, now);
    };
    EXPECT_EQ(done(0x1380, 0), 60) << "there before the first block";
    EXPECT_EQ(done(0x1A00, 0), 384) << "1,536 bytes behind these";
    EXPECT_EQ(done(0x1F80, 0), 700) << "asked for sooner than it would come, at 736";
    EXPECT_EQ(done(0x1F80, 200), 700) << "on its way";
    EXPECT_EQ(done(0x1A80, 1000), 1060) << "has come meanwhile";
}

TEST(Preload, BringsTheRestLaterInALaterLaunchToo) {
    Rig rig(with_code(0));
    EXPECT_EQ(rig.load(0x100000), 400);
    rig.memory->begin_launch();
    rig.memory->preload(PathKind::instruction, 0x1000, 0x1000, {.ready = 0x400, .rate = 4});
    const auto done = [&](std::uint64_t address, double now) {
        return rig.memory->access({.address = address, .bytes = 16, .path = PathKind::instruction}, now);
    };
    EXPECT_EQ(done(0x1380, 0), 60);
    EXPECT_EQ(done(0x1A00, 0), 384) << "counted from the start of its launch";
}

TEST(TlbEntryOnItsWay, IsWaitedForByLaterAccesses) {
    machine::Machine m = bare_machine();
    m.tlbs["near"] = make_tlb({.penalty = 10});
    m.tlbs["far"] = make_tlb({.scope = "gpu", .penalty = 500});
    m.paths["global"].tlbs.set({"near", "far"});
    m.memory.read_bandwidth.set(1e6);
    Rig rig(m);
    const auto done = [&](std::uint64_t address, std::uint32_t sm, double now) {
        return rig.memory->access({.address = address, .bytes = 4, .sm = sm}, now) - now;
    };
    EXPECT_NEAR(done(0x10000, 0, 1000), 910, 1);
    EXPECT_NEAR(done(0x10100, 0, 1200), 400 + 310, 1) << "the entry is there at 1510";
    EXPECT_NEAR(done(0x10200, 1, 1300), 400 + 210, 1) << "another SM waits for the same entry of the TLB they share";
    EXPECT_NEAR(done(0x10300, 0, 2000), 400, 1);
    EXPECT_NEAR(done(0x10400, 2, 2000), 410, 1) << "a miss of its own TLB only";
}

/// Cycles of a launch whose one thread runs through `instructions` additions.
std::uint64_t straight(const machine::Machine& machine, int instructions) {
    const auto gpu = make_device(machine, {});
    (void)cycles_of(*gpu,
                    [&](KernelBuilder& k, Reg r) { k.repeat(instructions, [&](int) { k("add.u32", r, r, 1); }); });
    return gpu->counters().cycles;
}

TEST(CodePrefetch, CodeThatTheLaunchBringsIsNotWaitedFor) {
    auto machine = small_machine();
    machine.caches["i1"] = small_cache(64, 2, 8, 10);
    machine.caches["i2"] = small_cache(64, 8, 64, 30);
    machine.paths["instruction"].caches.set({"i1", "i2"});
    machine.paths["instruction"].memory_latency.set(800);
    const auto cold = straight(machine, 320);
    machine.launch.code_prefetch.set(1280);
    const auto half = straight(machine, 320);
    machine.launch.code_prefetch.set(1 << 14);
    const auto all = straight(machine, 320);
    EXPECT_NEAR(static_cast<double>(cold - half), 20 * 770, 200) << "20 lines of 8 instructions, 8 bytes each";
    EXPECT_GT(half, all + 15 * 770);
}

TEST(StoreDrain, ALaunchEndsWhenItsStoresHaveArrived) {
    auto machine = small_machine();
    const auto before = straight(machine, 4);
    machine.launch.store_drain.set(300);
    EXPECT_NEAR(static_cast<double>(straight(machine, 4) - before), 300, 60);
    const auto gpu = make_device(machine, {});
    const auto nothing = [](const machine::Machine& m) {
        const auto empty = make_device(m, {});
        KernelBuilder k("nothing", kTarget);
        empty->load(k.text())->kernel("nothing").launch({});
        return empty->counters().cycles;
    };
    EXPECT_EQ(nothing(machine), nothing(small_machine())) << "no store, no wait";
}

TEST(LoadDrain, ALaunchThatLoadsEndsLaterHoweverLongAgoThatWas) {
    const auto cycles = [](double drain, bool loads, int additions) {
        auto machine = small_machine();
        if (drain > 0) machine.launch.load_drain.set(drain);
        const auto gpu = make_device(machine, {});
        const device::Buffer data(*gpu, Bytes{4096});
        KernelBuilder k("loads", kTarget);
        const Reg address = k.param(Type::u64, "data"), value = k.reg(Type::u32);
        k("mov.u32", value, 1);
        if (loads) k("ld.global.u32", value, Mem(address));
        k.repeat(additions, [&](int) { k("add.u32", value, value, 1); });
        device::Launch launch;
        launch.arguments.add(data.address());
        gpu->load(k.text())->kernel("loads").launch(launch);
        return static_cast<double>(gpu->counters().cycles);
    };
    EXPECT_EQ(cycles(170, true, 4) - cycles(0, true, 4), 170);
    EXPECT_EQ(cycles(170, true, 400) - cycles(0, true, 400), 170);
    EXPECT_EQ(cycles(170, false, 4), cycles(0, false, 4));
}

TEST(TlbBetweenLaunches, KeepsOrLosesItsEntriesAsDescribed) {
    const auto launched = [](std::optional<bool> near_outlasts, std::optional<bool> far_outlasts, bool knows) {
        machine::Machine m = bare_machine();
        m.tlbs["near"] = make_tlb({.penalty = 10});
        m.tlbs["far"] = make_tlb({.scope = "gpu", .penalty = 500});
        if (near_outlasts) m.tlbs["near"].outlasts_launches.set(*near_outlasts);
        if (far_outlasts) m.tlbs["far"].outlasts_launches.set(*far_outlasts);
        m.paths["global"].tlbs.set({"near", "far"});
        Rig rig(m);
        if (knows)
            rig.memory->know_pages(0x10000, 0x3000);
        else
            (void)rig.load(0x10000);
        rig.memory->begin_launch();
        return rig.memory->access({.address = 0x10100, .bytes = 4}, 0);
    };
    EXPECT_NEAR(launched({}, {}, false), 400, 1) << "an earlier launch of the same simulation";
    EXPECT_NEAR(launched(false, {}, false), 410, 1);
    EXPECT_NEAR(launched(false, true, false), 410, 1);
    EXPECT_NEAR(launched(false, false, false), 910, 1);
    EXPECT_NEAR(launched(false, true, true), 410, 1) << "an earlier launch that was not simulated";
    EXPECT_NEAR(launched({}, {}, true), 910, 1) << "nothing says that entries of such a launch are there";
}

/// Cycles of a grid on a small GPU whose blocks wait as long as each other.
double waiting_blocks(double first, double next, double of_ends, std::uint32_t blocks) {
    auto machine = small_machine();
    machine.topology.sms.set(4);
    if (first > 0) machine.launch.first_block_interval.set(first);
    if (next > 0) machine.launch.next_block_interval.set(next);
    machine.launch.block_interval.set(of_ends);
    machine.launch.block_replacement.set(100);
    const auto gpu = make_device(machine, {});
    KernelBuilder k("waits", kTarget);
    const Reg value = k.reg(Type::u32);
    k("mov.u32", value, 1);
    k.repeat(200, [&](int) { k("add.u32", value, value, 1); });
    gpu->load(k.text())->kernel("waits").launch({.grid = {blocks}, .block = {1}});
    return static_cast<double>(gpu->counters().cycles);
}

TEST(EndsOfBlocks, CountOneAfterTheOther) {
    const double alone = waiting_blocks(1, 0, 50, 1);
    EXPECT_NEAR(waiting_blocks(1, 0, 50, 4) - alone, 3 * 50, 4) << "they end together";
    EXPECT_NEAR(waiting_blocks(80, 0, 50, 4) - alone, 3 * 80, 4) << "they end as far apart as they start";
    EXPECT_NEAR(waiting_blocks(1, 40, 1, 8) - waiting_blocks(1, 0, 1, 8), 40, 30) << "two on each SM";
    EXPECT_NEAR(waiting_blocks(0, 0, 50, 4) - alone, 3 * 50, 4) << "described as starts";
}

TEST(Refresh, ALoadWaitsForItsEndAndTheMedianStays) {
    machine::Machine m = bare_machine();
    m.memory.refresh_interval.set(4000);
    m.memory.refresh_time.set(600);
    Rig rig(m);
    std::vector<double> latencies;
    double least = 1e9, most = 0;
    constexpr int kLoads = 20'000;
    for (int i = 0; i < kLoads; ++i) {
        rig.now += 37;
        latencies.push_back(rig.load(static_cast<std::uint64_t>(i) * 256));
        least = std::min(least, latencies.back());
        most = std::max(most, latencies.back());
    }
    std::ranges::sort(latencies);
    const machine::Refresh refresh = machine::refresh_of(m.memory, *m.clock.sm_mhz);
    EXPECT_NEAR(latencies[kLoads / 2], 400, 1) << "the described latency is the median, refreshes included";
    EXPECT_NEAR(least, 400, 1);
    EXPECT_NEAR(most, 400 + refresh.time, 40) << "loads are 37 cycles apart";
    const auto waited = std::ranges::count_if(latencies, [](double taken) { return taken > 401; });
    EXPECT_NEAR(static_cast<double>(waited), kLoads * refresh.time / refresh.interval, 200);
    m.memory.refresh_time.set(4000);
    EXPECT_NE(complaint(m).find("memory.refresh_time: found 4000 ns"), std::string::npos) << complaint(m);
}

}  // namespace
}  // namespace gputomo::sim::test
