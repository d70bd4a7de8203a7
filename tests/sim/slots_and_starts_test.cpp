// Issue slots that instructions take beyond one, and blocks that start one after the other: what the description says is what kernels take.
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

TEST(IssueSlots, AnInstructionThatTakesTwoHalvesTheRateOfIssue) {
    auto machine = wide_machine();
    const double single = adds(machine);
    machine.pipelines["sp"].issue_slots.set(2);
    EXPECT_NEAR(adds(machine) / single, 2, 0.1);
    machine.pipelines["sp"].issue_slots.set(1.5);
    EXPECT_NEAR(adds(machine) / single, 1.5, 0.1);
    machine.pipelines["sp"].issue_slots.set(0.5);
    EXPECT_THROW(static_cast<void>(adds(machine)), InputError);
}

/// Nanoseconds of a grid of empty blocks.
double empty_blocks(const machine::Machine& machine, std::uint32_t blocks, std::uint32_t threads) {
    const auto gpu = make_device(machine, {});
    KernelBuilder k("empty", kTarget);
    k("ret");
    const auto module = gpu->load(k.text());
    return module->kernel("empty").launch({.grid = {blocks}, .block = {threads}}).elapsed.count();
}

TEST(Starts, BlocksOfTheGpuAndWarpsOfAnSmKeepTheirDistance) {
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

}  // namespace
}  // namespace gputomo::sim::test
