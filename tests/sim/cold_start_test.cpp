// What a launch finds cold: code, constants and entries of TLBs that are on their way, and stores at its end.
#include "launching.hpp"
#include "memory_fixture.hpp"

#include <gtest/gtest.h>

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
    rig.memory->preload(PathKind::instruction, 0x1000, 0x400);
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
    rig.memory->preload(PathKind::instruction, 0x1010, 0x100);
    for (const std::uint32_t sm : {0U, 5U}) {
        EXPECT_EQ(fetch(rig, 0x1000, sm), 60);
        EXPECT_EQ(fetch(rig, 0x1100, sm), 60) << "the line of its last byte";
        EXPECT_EQ(fetch(rig, 0x1180, sm), 700);
    }
    rig.memory->preload(PathKind::constant, 0, 0x100);  // a path that is not described
    EXPECT_EQ(rig.load(0x1000), 400);
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

}  // namespace
}  // namespace gputomo::sim::test
