// The effect of each field of the description on time: issue, units, branches, scoreboard, fetch and memory paths.
#include "launching.hpp"
#include "units/error.hpp"

#include <fmt/format.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gputomo::sim::test {
namespace {

using Body = std::function<void(KernelBuilder&, Reg)>;

std::uint32_t cycles(const machine::Machine& machine, const Body& body, std::uint32_t threads = 1) {
    return cycles_of(*make_device(machine, {}), body, threads);
}

/// Cycles that `count` further copies of `body` take.
double each(const machine::Machine& machine, const Body& body, int count = 32, std::uint32_t threads = 1) {
    const auto some = cycles(
        machine, [&](KernelBuilder& k, Reg r) { k.repeat(count, [&](int) { body(k, r); }); }, threads);
    const auto more = cycles(
        machine, [&](KernelBuilder& k, Reg r) { k.repeat(2 * count, [&](int) { body(k, r); }); }, threads);
    return static_cast<double>(more - some) / count;
}

/// Independent instructions of one warp.
void two_adds(KernelBuilder& k, Reg) {
    const Reg a = k.reg(Type::u32), b = k.reg(Type::u32);
    k("add.u32", a, 1, 2);
    k("add.u32", b, 3, 4);
}

TEST(SmTiming, IndependentInstructionsOfAWarpAreTheIlpLatencyApart) {
    auto machine = wide_machine();
    EXPECT_EQ(each(machine, two_adds), 2);
    machine.issue.ilp_latency.set(3);
    EXPECT_EQ(each(machine, two_adds), 6);
}

TEST(SmTiming, DualIssuePairsIndependentInstructions) {
    auto machine = wide_machine();
    machine.issue.ilp_latency.set(3);
    machine.issue.dual_issue.set(2);
    EXPECT_EQ(each(machine, two_adds), 3);
    EXPECT_EQ(each(machine, [](KernelBuilder& k, Reg r) { k("add.u32", r, r, 1); }), 10)
        << "a chain has nothing to pair";
    machine.pipelines["sp"].lanes.set(32);
    add_operation(machine, "add.s32", 10, 32, {"sp"});
    EXPECT_EQ(each(machine, two_adds, 32, 512), 2 * 16) << "the unit takes one warp a cycle";
}

TEST(SmTiming, AnOperationOfTwoUnitsKeepsBothBusy) {
    // small_machine() issues every 2 cycles to an SP, which takes a multiplication every 4 cycles, and an SFU, which
    // takes one every 10.
    const auto mul = [](KernelBuilder& k, Reg) { k("mul.f32", k.reg(Type::f32), 1.0F, 2.0F); };
    EXPECT_NEAR(each(small_machine(), mul, 140, 512) / 16, 32 / 11.2, 0.01);
}

TEST(SmTiming, OneWarpUsesAllLanesOfAUnitThatSchedulersShare) {
    auto machine = small_machine();
    machine.issue.schedulers_per_sm.set(2);
    machine.pipelines["sfu"].lanes.set(4);
    add_operation(machine, "rsqrt.approx.f32", 22, 4, {"sfu"});
    const auto root = [](KernelBuilder& k, Reg) { k("rsqrt.approx.f32", k.reg(Type::f32), 2.0F); };
    EXPECT_EQ(each(machine, root, 32, 32), 16) << "its scheduler's share";
    EXPECT_EQ(each(machine, root, 32, 64), 16) << "two warps, a scheduler each";
    machine.pipelines["sfu"].scope.set("sm");
    EXPECT_EQ(each(machine, root, 32, 32), 8);
    EXPECT_EQ(each(machine, root, 32, 64), 16) << "two warps use all lanes alternately";
    // Three warps of dependent instructions hide 22 cycles, as on a GTX 480 (Volkov 2016, Table 6.3). One scheduler has
    // two of the warps.
    const auto chain = [](int count) {
        return [count](KernelBuilder& k, Reg r) {
            const Reg x = k.reg(Type::f32);
            k("mov.b32", x, r);
            k.repeat(count, [&](int) { k("rsqrt.approx.f32", x, x); });
            k("mov.b32", r, x);
        };
    };
    EXPECT_NEAR((cycles(machine, chain(128), 96) - cycles(machine, chain(64), 96)) / 64.0, 3 * 8, 0.5);
}

TEST(SmTiming, AWarpThatWaitsForABusyUnitIsNotStarved) {
    // Warps at an addition find the SP busy with other warps' multiplications, which could use either unit. If such
    // warps were passed over, they would fall behind, and the last warp would take twice as long as the first.
    const auto times = stored_by_threads(small_machine(), 512, [](KernelBuilder& k, Reg, Reg result) {
        const Reg product = k.reg(Type::f32), count = k.reg(Type::u32);
        k("mov.f32", product, 1.0F);
        k("mov.u32", count, 0);
        k("bar.sync", 0);
        const Reg start = k.clock32();
        k.repeat(8, [&](int) {
            k.repeat(40, [&](int) { k("mul.f32", product, product, product); });
            k("add.u32", count, count, 1);
        });
        k("sub.u32", result, k.clock_after(count), start);
    });
    const auto [least, most] = std::minmax_element(times.begin(), times.end());
    EXPECT_LT(*most - *least, 300U) << "of " << *most;
}

TEST(SmTiming, LoadsDoNotPairWithLoads) {
    auto machine = wide_machine();
    machine.issue.dual_issue.set(2);
    const auto loads = [](KernelBuilder& k, Reg) {
        const Reg a = k.reg(Type::u32), b = k.reg(Type::u32);
        k("ld.param.u32", a, Mem(ptx::Symbol{"out"}));
        k("ld.param.u32", b, Mem(ptx::Symbol{"out"}));
    };
    EXPECT_EQ(each(machine, loads), 2);
}

TEST(SmTiming, BankConflictsBeyondOneIssueTakeIssueSlots) {
    auto machine = wide_machine();
    machine.shared.conflict_cost.set(0);
    machine.shared.bytes_per_cycle.set(1024);
    const auto issue_slots = [&](int loads) {
        return cycles(
            machine,
            [&](KernelBuilder& k, Reg) {
                const Reg words = k.shared("words", Bytes(16384)), at = k.reg(Type::u32);
                k("mad.lo.u32", at, k.special(SpecialRegister::tid_x), 4 * 16, words);
                k.repeat(loads, [&](int) { k("ld.shared.u32", k.reg(Type::u32), Mem(at)); });
            },
            16);
    };
    const auto without = issue_slots(64) - issue_slots(32);
    machine.issue.reissue_transactions.set(4);
    EXPECT_EQ(issue_slots(64) - issue_slots(32) - without, 32U * 3) << "16 ways by fours";
}

TEST(SmTiming, BranchesTakeTheDescribedLatency) {
    auto machine = small_machine();
    machine.issue.branch_latency_taken.set(60);
    machine.issue.branch_latency_untaken.set(30);
    const auto branch = [](bool taken) {
        return [=](KernelBuilder& k, Reg r) {
            const Reg p = k.reg(Type::pred);
            k("setp.eq.u32", p, r, taken ? 0 : 1);
            const auto next = k.label();
            k.when(p)("bra", next);
            k.place(next);
        };
    };
    const double setp = 24;
    EXPECT_EQ(each(machine, branch(true)), setp + 60);
    EXPECT_EQ(each(machine, branch(false)), setp + 30);
}

TEST(SmTiming, TheScoreboardLimitsAWarpsLoadsInFlight) {
    auto machine = wide_machine();
    const auto loads = [&](int count) {
        const auto gpu = make_device(machine, {});
        const device::Buffer data(*gpu, Bytes(1 << 16));
        KernelBuilder k("loads", kTarget);
        const Reg out = k.param(Type::u64, "out"), from = k.param(Type::u64, "from");
        const Reg sum = k.reg(Type::u32), start = k.clock_after(sum);
        std::vector<Reg> values = k.regs(Type::u32, count);
        for (int i = 0; i < count; ++i) k("ld.global.u32", values[static_cast<std::size_t>(i)], Mem(from, 1024 * i));
        k("mov.u32", sum, 0);
        for (const Reg value : values) k("add.u32", sum, sum, value);
        const Reg end = k.clock_after(sum);
        k("st.global.u32", Mem(out), start);
        k("st.global.u32", Mem(out, 4), end);
        const auto times = run(*gpu, k, 2, {}, {1}, data.address());
        return times[1] - times[0];
    };
    const auto four = loads(4), eight = loads(8);
    EXPECT_LT(eight, four + 100) << "eight overlap";
    machine.issue.scoreboard_loads.set(4);
    EXPECT_EQ(loads(4), four);
    EXPECT_GT(loads(8), eight + 350) << "the second four wait for the first";
}

TEST(SmTiming, SleepsAndFencesDelayTheWarp) {
    EXPECT_NEAR(each(small_machine(), [](KernelBuilder& k, Reg) { k("nanosleep.u32", 500); }), 500, 1) << "1 GHz";
    const auto gpu = make_device(small_machine(), {});
    const device::Buffer data(*gpu, Bytes(64));
    const auto elapsed = [&](bool fence) {
        KernelBuilder k("fenced", kTarget);
        const Reg out = k.param(Type::u64, "out"), from = k.param(Type::u64, "from"), value = k.reg(Type::u32);
        const Reg start = k.clock32();
        k("ld.global.u32", value, Mem(from));
        if (fence) k("membar.gl");
        const Reg end = k.clock32();
        k("st.global.u32", Mem(out), start);
        k("st.global.u32", Mem(out, 4), end);
        const auto times = run(*gpu, k, 2, {}, {1}, data.address());
        return times[1] - times[0];
    };
    EXPECT_LT(elapsed(false), 100U);
    EXPECT_GT(elapsed(true), 440U);
}

// ---- instruction supply --------------------------------------------------------------------------------------------

/// Instructions of 8 bytes from a cache of 1 KiB with lines of 64, memory at 200 cycles.
machine::Machine fetching_machine() {
    auto machine = small_machine();
    machine.caches["i1"] = small_cache(64, 2, 8, 10);
    machine.paths["instruction"].caches.set({"i1"});
    machine.paths["instruction"].memory_latency.set(200);
    return machine;
}

/// Cycles per instruction of a loop with `body` adds in its body, after the first iterations.
double per_instruction(const machine::Machine& machine, int body) {
    const auto loop = [&](int iterations) {
        return cycles(machine, [&](KernelBuilder& k, Reg r) {
            k.loop(iterations, [&] { k.repeat(body, [&](int) { k("add.u32", r, r, 1); }); });
        });
    };
    return static_cast<double>(loop(12) - loop(4)) / (8.0 * (body + 3));
}

TEST(InstructionSupply, OnlyCodeBeyondTheCacheCostsFetches) {
    EXPECT_NEAR(per_instruction(small_machine(), 200), 24, 0.5);
    EXPECT_NEAR(per_instruction(fetching_machine(), 60), 24, 0.5);
    EXPECT_NEAR(per_instruction(fetching_machine(), 400), 24 + (200.0 - 10) / 8, 5)
        << "each line of 8 instructions comes from memory";
}

TEST(InstructionSupply, PrefetchedLinesCostLess) {
    auto machine = fetching_machine();
    const double plain = per_instruction(machine, 400);
    machine.instruction_supply.prefetch_lines.set(2);
    EXPECT_LT(per_instruction(machine, 400), plain - 15);
}

// ---- memory paths --------------------------------------------------------------------------------------------------

/// Cycles of one load by a whole warp, with `stride` bytes between the threads' addresses. A first load warms the
/// caches.
double load_latency(const machine::Machine& machine, const std::string& mnemonic, int stride) {
    const auto gpu = make_device(machine, {});
    const device::Buffer data(*gpu, Bytes(1 << 16));
    KernelBuilder k("load", kTarget);
    const Reg out = k.param(Type::u64, "out"), from = k.param(Type::u64, "from");
    const Reg at = k.element(from, k.special(SpecialRegister::tid_x), Bytes(stride)), value = k.reg(Type::u32);
    k(mnemonic, value, Mem(at));
    const Reg start = k.clock_after(value);
    k(mnemonic, value, Mem(at));
    const Reg end = k.clock_after(value);
    k("st.global.u32", Mem(out), start);
    k("st.global.u32", Mem(out, 4), end);
    const auto times = run(*gpu, k, 2, {}, {32}, data.address());
    return times[1] - times[0];
}

machine::Machine cached_machine() {
    auto machine = small_machine();
    machine.caches["l1"] = small_cache(128, 4, 64, 50);
    machine.caches["l1"].sector.set(32);
    machine.caches["l2"] = small_cache(128, 4, 256, 150);
    machine.caches["l2"].scope.set("gpu");
    machine.caches["c1"] = small_cache(64, 4, 64, 20);
    machine.caches["t1"] = small_cache(32, 4, 64, 90);
    machine.paths["global"].caches.set({"l1", "l2"});
    machine.paths["constant"].caches.set({"c1"});
    machine.paths["constant"].memory_latency.set(440);
    machine.paths["texture"].caches.set({"t1"});
    machine.paths["texture"].memory_latency.set(440);
    machine.memory.coalescing_group.set(32);
    machine.memory.transaction_sizes = {};
    return machine;
}

TEST(MemoryPaths, EachTransactionBeyondTheFirstAddsACycle) {
    const auto machine = cached_machine();
    const double one = load_latency(machine, "ld.global.u32", 0);
    EXPECT_EQ(load_latency(machine, "ld.global.u32", 4), one) << "four sectors of a line";
    EXPECT_EQ(load_latency(machine, "ld.global.u32", 128), one + 31);
}

TEST(MemoryPaths, LoadsThatSkipTheFirstCacheTakeTheLatencyOfTheSecond) {
    const auto machine = cached_machine();
    EXPECT_EQ(load_latency(machine, "ld.global.cg.u32", 4) - load_latency(machine, "ld.global.u32", 4), 100);
}

TEST(MemoryPaths, ConstantsAreServedOneWordAtATime) {
    const auto machine = cached_machine();
    const double uniform = load_latency(machine, "ld.const.u32", 0);
    EXPECT_EQ(load_latency(machine, "ld.const.u32", 4), uniform + 31);
    EXPECT_EQ(load_latency(machine, "ld.global.u32", 0) - uniform, 30);
}

TEST(MemoryPaths, ReadOnlyLoadsTakeTheTexturePathUpToPascal) {
    auto machine = cached_machine();
    machine.identity.compute_capability_minor.set(5);
    machine.identity.compute_capability_major.set(3);
    EXPECT_EQ(load_latency(machine, "ld.global.nc.u32", 0) - load_latency(machine, "ld.global.u32", 0), 40);
    machine.identity.compute_capability_major.set(9);
    EXPECT_EQ(load_latency(machine, "ld.global.nc.u32", 0), load_latency(machine, "ld.global.u32", 0));
}

TEST(MemoryPaths, RefusesAKernelThatUsesAMissingPath) {
    auto machine = cached_machine();
    machine.paths.erase("constant");
    EXPECT_THAT(message_of([&] { (void)load_latency(machine, "ld.const.u32", 0); }),
                testing::HasSubstr("paths.constant: missing"));
}

TEST(MemoryPaths, TexturesGiveTexelsAndZeroOutside) {
    const auto gpu = make_device(cached_machine(), {});
    device::Buffer texels(*gpu, Bytes(64));
    texels.write(std::vector<std::uint32_t>{5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20});
    const auto texture = gpu->linear_texture(texels.address(), Bytes(64), device::TexelFormat::u32);
    KernelBuilder k("fetch", kTarget);
    const Reg out = k.param(Type::u64, "out"), image = k.param(Type::u64, "image");
    const Reg tid = k.special(SpecialRegister::tid_x), x = k.reg(Type::s32);
    const Reg r = k.reg(Type::u32), g = k.reg(Type::u32), b = k.reg(Type::u32), a = k.reg(Type::u32);
    k("add.s32", x, tid, -2);
    k("tex.1d.v4.u32.s32", ptx::Vec{r, g, b, a}, Mem(image), ptx::Vec{x});
    const Reg start = k.clock_after(r);
    k("tex.1d.v4.u32.s32", ptx::Vec{g, g, b, a}, Mem(image), ptx::Vec{x});
    const Reg end = k.clock_after(g);
    k("st.global.u32", Mem(k.element(out, tid, Bytes(4))), r);
    k("sub.u32", end, end, start);
    k("st.global.u32", Mem(out, 80), end);
    const auto found = run(*gpu, k, 21, {}, {20}, texture);
    for (std::uint32_t t = 0; t < 20; ++t) EXPECT_EQ(found[t], t < 2 || t > 17 ? 0 : t + 3) << t;
    EXPECT_GE(found[20], 90U) << "the latency of the texture cache";
    EXPECT_LE(found[20], 90U + 80) << "and what reads the clock";
}

/// Cycles of a dependent load from local memory that hits.
double local_latency(const machine::Machine& machine) {
    const auto chase = [&](int loads) {
        return cycles(machine, [&](KernelBuilder& k, Reg r) {
            const Reg frame = k.local("frame", Bytes(16)), at = k.reg(Type::u64);
            k("mov.u64", at, frame);
            k("st.local.u64", Mem(at), frame);
            k.repeat(loads, [&](int) { k("ld.local.u64", at, Mem(at)); });
            k("cvt.u32.u64", r, at);
        });
    };
    return (chase(64) - chase(32)) / 32.0;
}

TEST(MemoryPaths, LocalMemoryTakesTheGlobalPathWithoutOneOfItsOwn) {
    auto machine = cached_machine();
    EXPECT_EQ(local_latency(machine), 50 + 1) << "two words a load, a cycle apart";
    machine.paths["global"].caches.set({"l2"});
    EXPECT_EQ(local_latency(machine), 150 + 1);
    machine.paths["local"].caches.set({"l1", "l2"});
    machine.paths["local"].memory_latency.set(440);
    EXPECT_EQ(local_latency(machine), 50 + 1);
}

TEST(MemoryPaths, SharedAtomicsOnOneWordAreServedOneByOne) {
    const auto atomics = [](int stride) {
        const auto chain = [&](int count) {
            return cycles(
                small_machine(),
                [&](KernelBuilder& k, Reg r) {
                    const Reg words = k.shared("words", Bytes(64)), at = k.reg(Type::u32);
                    k("mad.lo.u32", at, k.special(SpecialRegister::tid_x), stride, words);
                    k.repeat(count, [&](int) { k("atom.shared.add.u32", r, Mem(at), r); });
                },
                16);
        };
        return (chain(16) - chain(8)) / 8;
    };
    EXPECT_EQ(atomics(0), atomics(4) + 15 * 16) << "16 threads, 16 cycles for each further way";
}

// ---- residency -----------------------------------------------------------------------------------------------------

/// Blocks of 64 threads that are resident on the SM at once.
std::size_t resident(const machine::Machine& machine, int registers, int shared_bytes) {
    const auto gpu = make_device(machine, {});
    KernelBuilder k("resident", kTarget);
    const Reg out = k.param(Type::u64, "out");
    if (shared_bytes > 0) (void)k.shared("space", Bytes(shared_bytes));
    const Reg start = k.clock32();
    const auto held = k.regs(Type::u32, registers);
    for (const Reg reg : held) k("mov.u32", reg, start);
    for (int i = 0; i < 20; ++i) k("nanosleep.u32", 1000);
    const Reg sum = k.reg(Type::u32);
    k("mov.u32", sum, 0);
    for (const Reg reg : held) k("add.u32", sum, sum, reg);
    k("add.u32", sum, sum, start);
    const Reg at = k.element(out, k.special(SpecialRegister::ctaid_x), Bytes(8));
    k("st.global.u32", Mem(at), start);
    k("st.global.u32", Mem(at, 4), sum);
    const auto words = run(*gpu, k, 64, {32}, {64});
    std::size_t together = 0;
    for (std::size_t b = 0; b < 32; ++b)
        together += static_cast<std::int32_t>(words[2 * b] - words[0]) < 15'000 ? 1 : 0;
    return together;
}

TEST(Residency, IsLimitedByThreadsBlocksRegistersAndSharedMemory) {
    auto machine = small_machine();
    machine.topology.max_blocks_per_sm.set(16);
    EXPECT_EQ(resident(machine, 4, 0), 16U) << "1024 threads in blocks of 64";
    machine.topology.registers_per_sm.set(8192);
    machine.topology.register_allocation_unit.set(8);
    EXPECT_EQ(resident(machine, 20, 0), 5U) << "24 x 64 registers a block";
    machine.topology.thread_allocation_unit.set(128);
    EXPECT_EQ(resident(machine, 20, 0), 2U) << "24 x 128 registers a block";
    EXPECT_EQ(resident(small_machine(), 4, 4096), 4U);
    machine = small_machine();
    machine.shared.block_overhead.set(16);
    machine.shared.allocation_unit.set(512);
    EXPECT_EQ(resident(machine, 4, 4096), 3U) << "4112 bytes are 9 units";
}

TEST(Residency, RefusesBlocksThatCannotFit) {
    auto machine = small_machine();
    machine.topology.registers_per_sm.set(1024);
    EXPECT_THAT(message_of([&] { (void)resident(machine, 40, 0); }), testing::HasSubstr("the SM has 1024 registers"));
    machine = small_machine();
    machine.topology.max_registers_per_thread.set(32);
    EXPECT_THAT(message_of([&] { (void)resident(machine, 40, 0); }),
                testing::HasSubstr("topology.max_registers_per_thread is 32"));
    EXPECT_THAT(message_of([] { (void)resident(small_machine(), 4, 20000); }),
                testing::HasSubstr("bytes of shared memory per block asked"));
}

TEST(Residency, RespectsTheKernelsOwnLimits) {
    const auto gpu = make_device(small_machine(), {});
    KernelBuilder k("small", kTarget);
    (void)k.param(Type::u64, "out");
    k.max_threads(32);
    EXPECT_EQ(gpu->load(k.text())->kernel("small").properties().max_threads_per_block, 32);
    EXPECT_EQ(message_of([&] { (void)run(*gpu, k, 1, {}, {32}); }), "");
    EXPECT_THAT(message_of([&] { (void)run(*gpu, k, 1, {}, {64}); }),
                testing::HasSubstr("64 threads per block asked; .maxntid is 32"));
}

TEST(Residency, KernelPropertiesReportRegistersAndMemory) {
    const auto gpu = make_device(small_machine(), {});
    KernelBuilder k("needs", kTarget);
    const Reg out = k.param(Type::u64, "out");
    (void)k.local("frame", Bytes(24));
    const auto held = k.regs(Type::u32, 10);
    for (const Reg reg : held) k("ld.global.u32", reg, Mem(out));
    for (const Reg reg : held) k("st.global.u32", Mem(out), reg);
    const auto module = gpu->load(k.text());
    const auto properties = module->kernel("needs").properties();
    EXPECT_EQ(properties.registers_per_thread, 12) << "ten words and an address";
    EXPECT_EQ(properties.local_per_thread, Bytes(24));
}

TEST(Residency, UnreadParametersTakeNoRegisters) {
    const auto gpu = make_device(small_machine(), {});
    KernelBuilder k("parameters", kTarget);
    const Reg out = k.param(Type::u64, "out");
    std::vector<Reg> addends;
    for (int i = 0; i < 12; ++i) addends.push_back(k.param(Type::u32, "addend" + std::to_string(i)));
    const Reg sum = k.reg(Type::u32);
    k("mov.u32", sum, 1);
    for (const Reg addend : addends) k("add.u32", sum, sum, addend);
    k("st.global.u32", Mem(out), sum);
    const auto module = gpu->load(k.text());
    EXPECT_EQ(module->kernel("parameters").properties().registers_per_thread, 3)
        << "the sum, and the address while it is stored";
    // A parameter that the kernel overwrites takes a register.
    KernelBuilder written("written", kTarget);
    const Reg to = written.param(Type::u64, "to"), first = written.param(Type::u32, "first"),
              second = written.param(Type::u32, "second");
    written("add.u32", first, first, 1);
    written("add.u32", second, second, first);
    written("st.global.u32", Mem(to), first);
    written("st.global.u32", Mem(to), second);
    EXPECT_EQ(gpu->load(written.text())->kernel("written").properties().registers_per_thread, 4);
}

}  // namespace
}  // namespace gputomo::sim::test
