// Kernels take the described issue slots, forwarding latencies, and intervals between block and warp starts.
#include "launching.hpp"
#include "units/error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gputomo::sim::test {
namespace {

/// Cycles of 64 independent adds by each of 16 warps.
double adds(const machine::Machine& machine) {
    return cycles_of(
        *make_device(machine, {}),
        [](KernelBuilder& k, Reg) {
            for (int i = 0; i < 64; ++i) k("add.u32", k.reg(Type::u32), i, 2);
        },
        512);
}

TEST(IssueSlots, TwoSlotsHalveTheIssueRate) {
    auto machine = wide_machine();
    const double single = adds(machine);
    machine.pipelines["sp"].issue_slots.set(2);
    EXPECT_NEAR(adds(machine) / single, 2, 0.1);
    machine.pipelines["sp"].issue_slots.set(1.5);
    EXPECT_NEAR(adds(machine) / single, 1.5, 0.1);
    machine.pipelines["sp"].issue_slots.set(0.5);
    EXPECT_THROW(static_cast<void>(adds(machine)), InputError);
}

/// Cycles of a special function or of a load from shared memory, together with the instruction that waits for it.
double pair_of(const machine::Machine& machine, std::string_view first, std::string_view second) {
    const auto pairs = [&](int count) {
        const std::string source(first), waiting(second);
        return cycles_of(*make_device(machine, {}), [&](KernelBuilder& k, Reg value) {
            const Reg word = k.shared("word", Bytes{4});
            const Reg x = k.reg(Type::b32), zero = k.reg(Type::b32);
            k("st.shared.u32", Mem{word}, word);
            k("mov.b32", x, word);
            k("mov.b32", zero, 0);
            for (int i = 0; i < count; ++i) {
                source.starts_with("ld") ? k(source, x, Mem{x}) : k(source, x, x);
                if (waiting.starts_with("add")) k(waiting, x, x, zero);
            }
            k("mov.b32", value, x);
        });
    };
    return (static_cast<double>(pairs(8)) - pairs(4)) / 4;
}

TEST(Forwarding, OnlyCudaCoresGetAResultAtAnotherTime) {
    auto machine = small_machine();
    machine.pipelines.at("sfu").latency.set(28);
    const double load = pair_of(machine, "ld.shared.b32", "none"),
                 function = pair_of(machine, "rsqrt.approx.f32", "none");
    const double after_load = pair_of(machine, "ld.shared.b32", "add.u32"),
                 after_function = pair_of(machine, "rsqrt.approx.f32", "add.f32");
    machine.shared.forward_latency.set(*machine.shared.latency - 5);
    machine.pipelines.at("sfu").forward_latency.set(*machine.pipelines.at("sfu").latency + 3);  // as an H200's
    EXPECT_EQ(pair_of(machine, "ld.shared.b32", "none"), load);
    EXPECT_EQ(pair_of(machine, "rsqrt.approx.f32", "none"), function);
    EXPECT_EQ(pair_of(machine, "ld.shared.b32", "add.u32"), after_load - 5);
    EXPECT_EQ(pair_of(machine, "rsqrt.approx.f32", "add.f32"), after_function + 3);
    machine.shared.latency = {};
    EXPECT_THROW(static_cast<void>(pair_of(machine, "ld.shared.b32", "none")), InputError);
    machine = small_machine();
    machine.pipelines.at("sfu").forward_latency.set(-1);
    EXPECT_THROW(static_cast<void>(pair_of(machine, "ld.shared.b32", "none")), InputError);
}

/// Nanoseconds of a grid of empty blocks.
double empty_blocks(const machine::Machine& machine, std::uint32_t blocks, std::uint32_t threads) {
    const auto gpu = make_device(machine, {});
    KernelBuilder k("empty", kTarget);
    k("ret");
    const auto module = gpu->load(k.text());
    return module->kernel("empty").launch({.grid = {blocks}, .block = {threads}}).elapsed.count();
}

TEST(Starts, BlocksAndWarpsStartAtTheirIntervals) {
    auto machine = small_machine();
    const double cycle = 1000 / *machine.clock.sm_mhz;
    machine.launch.block_interval.set(50);
    EXPECT_NEAR((empty_blocks(machine, 400, 32) - empty_blocks(machine, 200, 32)) / cycle, 200 * 50, 200);
    machine.launch.block_interval = {};
    machine.launch.warp_interval.set(100);
    const auto sms = static_cast<double>(*machine.topology.sms);
    EXPECT_NEAR((empty_blocks(machine, 400, 64) - empty_blocks(machine, 200, 64)) / cycle * sms, 200 * 2 * 100, 2000);
    machine.launch.warp_interval.set(-1);
    EXPECT_THROW(static_cast<void>(empty_blocks(machine, 1, 32)), InputError);
}

/// Nanoseconds of 40 blocks of six warps, of which the first one of each takes long, and longer in some than in others.
double uneven_blocks(const machine::Machine& machine) {
    const auto gpu = make_device(machine, {});
    KernelBuilder k("uneven", kTarget);
    const Reg tid = k.special(SpecialRegister::tid_x), later = k.reg(Type::pred), sum = k.reg(Type::u32);
    const auto end = k.label();
    k("mov.u32", sum, 0);
    k("setp.gt.u32", later, tid, 31);
    k.when(later)("bra", end);
    const Reg count = k.reg(Type::u32);
    k("and.b32", count, k.special(SpecialRegister::ctaid_x), 7);
    k("mul.lo.u32", count, count, 50);
    k("add.u32", count, count, 20);
    k.loop(count, [&] { k("add.u32", sum, sum, 1); });
    k.place(end);
    const auto module = gpu->load(k.text());
    return module->kernel(k.name()).launch({.grid = {40}, .block = {192}}).elapsed.count();
}

TEST(Starts, BlocksTakeTheRoomOfWarpsThatHaveEnded) {
    auto machine = wide_machine();  // five of these blocks fit, and eight at most
    const double whole = uneven_blocks(machine);
    machine.launch.given_back.set("warps");
    EXPECT_LT(uneven_blocks(machine), 0.8 * whole);
}

}  // namespace
}  // namespace gputomo::sim::test
