#include "launching.hpp"

#include "sim/simulator.hpp"
#include "units/error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gputomo::sim::test {
namespace {

using ::testing::HasSubstr;

TEST(SimulatedTiming, EachInstructionOfADependentChainTakesItsLatency) {
    const auto gpu = make_device(small_machine(), {});
    const auto chain = [&](const char* mnemonic, int n) {
        return cycles_of(*gpu, [&](KernelBuilder& k, Reg r) { k.repeat(n, [&](int) { k(mnemonic, r, r, r); }); });
    };
    EXPECT_EQ(chain("add.u32", 256) - chain("add.u32", 128), 128U * 24);
    EXPECT_EQ(chain("mul.lo.u32", 64) - chain("mul.lo.u32", 32), 32U * 96);
}

TEST(SimulatedTiming, TwoClockReadsAreTheReadCostApart) {
    const auto gpu = make_device(small_machine(), {});
    KernelBuilder k("clocks", kTarget);
    const Reg out = k.param(Type::u64, "out");
    const Reg a = k.clock32(), b = k.clock32();
    k("st.global.u32", Mem(out), a);
    k("st.global.u32", Mem(out, 4), b);
    const auto times = run(*gpu, k, 2, {}, {1});
    EXPECT_EQ(times[1] - times[0], 28U);
}

TEST(SimulatedTiming, ManyWarpsReachTheThroughputOfTheUnit) {
    const auto gpu = make_device(small_machine(), {});
    const auto elapsed = [&](const char* mnemonic, int n) {
        return cycles_of(
            *gpu, [&](KernelBuilder& k, Reg r) { k.repeat(n, [&](int) { k(mnemonic, r, r, r); }); }, 512);
    };
    // 16 warps x 64 instructions x 32 threads at 8 per cycle. The first warp's clock reads miss only the tails of the
    // other warps.
    const double cycles = elapsed("add.u32", 512) - elapsed("add.u32", 256);
    EXPECT_NEAR(16 * 256 * 32 / cycles, 8, 0.04);
}

TEST(SimulatedTiming, ASharedMemoryChaseTakesItsLatencyPlusConflicts) {
    const auto gpu = make_device(small_machine(), {});
    const auto chase = [&](int loads, int stride) {
        return cycles_of(
            *gpu,
            [&](KernelBuilder& k, Reg r) {
                const Reg base = k.shared("words", Bytes(8192));
                const Reg address = k.reg(Type::u32);
                k("mad.lo.u32", address, k.special(SpecialRegister::tid_x), stride, base);
                k("st.shared.u32", Mem(address), address);
                k("mov.u32", r, address);
                k.repeat(loads, [&](int) { k("ld.shared.u32", r, Mem(r)); });
            },
            16);
    };
    EXPECT_EQ(chase(64, 4) - chase(32, 4), 32U * 38);
    EXPECT_EQ(chase(64, 8) - chase(32, 8), 32U * (38 + 16));
}

TEST(SimulatedTiming, AGlobalMemoryChaseTakesCacheOrMemoryLatency) {
    auto machine = small_machine();
    machine.caches["l1"] = small_cache(64, 2, 4, 100);
    machine.paths["global"].caches.set({"l1"});
    const auto gpu = make_device(machine, {});
    device::Buffer ring(*gpu, Bytes(4096));
    const auto cycles = [&](int elements, int loads) {
        std::vector<std::uint64_t> words(512);
        for (int i = 0; i < elements; ++i)
            words[static_cast<std::size_t>(i) * 8] =
                ring.address() + static_cast<std::uint64_t>((i + 1) % elements) * 64;
        ring.write(words);
        KernelBuilder k("chase", kTarget);
        const Reg out = k.param(Type::u64, "out");
        const Reg p = k.param(Type::u64, "ring");
        k.repeat(elements, [&](int) { k("ld.global.u64", p, Mem(p)); });
        const Reg start = k.clock_after(p);
        k.repeat(loads, [&](int) { k("ld.global.u64", p, Mem(p)); });
        const Reg end = k.clock_after(p);
        k("st.global.u32", Mem(out), start);
        k("st.global.u32", Mem(out, 4), end);
        const auto times = run(*gpu, k, 2, {}, {1}, ring.address());
        return times[1] - times[0];
    };
    EXPECT_EQ(cycles(8, 64) - cycles(8, 32), 32U * 100) << "512 bytes fit";
    EXPECT_EQ(cycles(16, 64) - cycles(16, 32), 32U * 440) << "twice the capacity misses always under LRU";
}

TEST(SimulatedDivergence, DivergedPathsRunOneAfterTheOtherTakenFirst) {
    const auto gpu = make_device(small_machine(), {});
    KernelBuilder k("diverge", kTarget);
    const Reg out = k.param(Type::u64, "out");
    const Reg tid = k.special(SpecialRegister::tid_x);
    const Reg p = k.reg(Type::pred), order = k.reg(Type::u32), mine = k.reg(Type::u32);
    const Reg counter = k.shared("counter", Bytes(4));
    k("setp.lt.u32", p, tid, 16);
    const auto taken = k.label(), join = k.label();
    k.when(p)("bra", taken);
    k("atom.shared.add.u32", mine, Mem(counter), 1);
    k("bra", join);
    k.place(taken);
    k("atom.shared.add.u32", mine, Mem(counter), 1);
    k.place(join);
    k("mov.u32", order, mine);
    k("st.global.u32", Mem(k.element(out, tid, Bytes(4))), order);
    const auto positions = run(*gpu, k, 32, {}, {32});
    EXPECT_LT(positions[0], 16U) << "threads below 16 took the branch and ran first";
    EXPECT_GE(positions[16], 16U);
}

/// Wong 2010, Listing 4: while (shared != tid); shared++.
KernelBuilder listing4() {
    KernelBuilder k("listing4", kTarget);
    const Reg out = k.param(Type::u64, "out");
    const Reg tid = k.special(SpecialRegister::tid_x), seen = k.reg(Type::u32), p = k.reg(Type::pred);
    const Reg shared = k.shared("turn", Bytes(4));
    const auto spin = k.label();
    k.place(spin);
    k("ld.volatile.shared.u32", seen, Mem(shared));
    k("setp.ne.u32", p, seen, tid);
    k.when(p)("bra", spin);
    k("add.u32", seen, seen, 1);
    k("st.volatile.shared.u32", Mem(shared), seen);
    k("st.global.u32", Mem(k.element(out, tid, Bytes(4))), seen);
    return k;
}

TEST(SimulatedDivergence, WongsListing4HangsOnAStackAndEndsWithIndependentThreads) {
    auto machine = small_machine();
    EXPECT_THROW(run(*make_device(machine, {}), listing4(), 32, {}, {32}, 0, std::chrono::milliseconds(200)),
                 TimeLimitError);
    machine.issue.divergence.set("independent");
    machine.issue.barrier_granularity.set("thread");
    const auto positions = run(*make_device(machine, {}), listing4(), 32, {}, {32});
    EXPECT_EQ(positions[31], 32U);
}

TEST(SimulatedBarrier, ADeadlockReportSaysWhereEachWarpWaits) {
    const auto gpu = make_device(small_machine(), {});
    KernelBuilder k("stuck", kTarget);
    (void)k.param(Type::u64, "out");
    const Reg tid = k.special(SpecialRegister::tid_x), p = k.reg(Type::pred);
    k("setp.lt.u32", p, tid, 32);
    k.when(p)("bar.sync", 0, 64);
    k.unless(p)("bar.sync", 1, 64);
    try {
        run(*gpu, k, 1, {}, {64});
        FAIL() << "no deadlock seen";
    } catch (const DeviceError& e) {
        EXPECT_THAT(e.what(), HasSubstr("deadlock: 2 warps left"));
        EXPECT_THAT(e.what(), HasSubstr("warp 1 waits at"));
        EXPECT_THAT(e.what(), HasSubstr("bar.sync"));
    }
}

TEST(SimulatedBarrier, EachBarrierOfOneWarpTakesTheBarrierLatency) {
    const auto gpu = make_device(small_machine(), {});
    const auto chain = [&](int n) {
        return cycles_of(
            *gpu, [&](KernelBuilder& k, Reg) { k.repeat(n, [&](int) { k("bar.sync", 0); }); }, 32);
    };
    EXPECT_EQ(chain(32) - chain(16), 16U * 20);
}

TEST(SimulatedDevice, AnIllegalAddressNamesKernelThreadAndInstruction) {
    const auto gpu = make_device(small_machine(), {});
    KernelBuilder k("wild", kTarget);
    const Reg out = k.param(Type::u64, "out");
    k("st.global.u32", Mem(out, 1 << 20), 1);
    try {
        run(*gpu, k, 1, {}, {1});
        FAIL() << "no error";
    } catch (const DeviceError& e) {
        EXPECT_THAT(e.what(), HasSubstr("launch of wild: illegal address"));
        EXPECT_THAT(e.what(), HasSubstr("thread 0"));
        EXPECT_THAT(e.what(), HasSubstr("st.global.u32"));
    }
}

TEST(SimulatedDevice, AnAccessBeyondSharedMemorySaysHowToAskForMore) {
    const auto gpu = make_device(small_machine(), {});
    KernelBuilder k("dynamic", kTarget);
    k.param(Type::u64, "out");
    const Reg at = k.reg(Type::u32);
    k("mov.u32", at, 2048);
    k("st.shared.u32", Mem(at), 1);
    try {
        run(*gpu, k, 1, {}, {1});
        FAIL() << "no error";
    } catch (const DeviceError& e) {
        EXPECT_THAT(e.what(), HasSubstr("illegal address 0x800 (4 bytes) of shared memory, of which the block has 0"));
        EXPECT_THAT(e.what(), HasSubstr("--shared"));
    }
}

TEST(SimulatedDevice, RefusesAnInstructionWhereAThreadReachesIt) {
    const auto gpu = make_device(small_machine(), {});
    const auto launch = [&](const std::string& instruction, std::uint32_t reaches) {
        const auto module = gpu->load(
            ".version 8.0\n.target sm_80\n.address_size 64\n.extern .func f(.param .b64 a) .noreturn;\n"
            ".visible .entry other(.param .u64 p) { .reg .b4096 %r; ret; }\n"
            ".visible .entry k(.param .u32 p) {\n.reg .b64 %r<2>;\n.reg .b32 %n;\n.reg .pred %q;\n"
            "ld.param.u32 %n, [p];\nsetp.ne.u32 %q, %n, 0;\n@%q " +
            instruction + "\nret;\n}\n");
        EXPECT_THROW((void)module->kernel("other"), InputError);
        device::Launch one{.grid = {1}, .block = {32}, .time_limit = std::chrono::seconds(10)};
        one.arguments.add(reaches);
        try {
            module->kernel("k").launch(one);
        } catch (const DeviceError& error) {
            return std::string(error.what());
        }
        return std::string();
    };
    for (const std::string instruction : {"mapa.u64 %r0, %r1, 1;", "foo.bar %n, {%r0, nosuch};", "call f, (%r0);"}) {
        EXPECT_EQ(launch(instruction, 0), "");
        EXPECT_THAT(launch(instruction, 1), testing::AllOf(HasSubstr("cannot be executed"), HasSubstr("thread 0"),
                                                           HasSubstr(instruction.substr(0, 7))));
    }
}

TEST(SimulatedDevice, TheSameSeedGivesTheSameRun) {
    Options options;
    options.noise.jitter_cycles = 5;
    const auto once = [&] {
        const auto gpu = make_device(small_machine(), options);
        return cycles_of(*gpu, [&](KernelBuilder& k, Reg r) { k.repeat(64, [&](int) { k("add.u32", r, r, r); }); });
    };
    EXPECT_EQ(once(), once());
}

TEST(SimulatedDevice, BlocksFillAllSmsAndEndedBlocksAreReplaced) {
    auto machine = small_machine();
    machine.topology.sms.set(4);
    const auto gpu = make_device(machine, {});
    KernelBuilder k("where", kTarget);
    const Reg out = k.param(Type::u64, "out");
    k("st.global.u32", Mem(k.element(out, k.special(SpecialRegister::ctaid_x), Bytes(4))),
      k.special(SpecialRegister::smid));
    const auto sms = run(*gpu, k, 100, {100}, {32});
    for (std::uint32_t sm = 0; sm < 4; ++sm) EXPECT_GT(std::count(sms.begin(), sms.end(), sm), 10) << sm;
}

}  // namespace
}  // namespace gputomo::sim::test
