// Launches of which only a sample of the blocks is simulated, beside the same launches as a whole.
#include "launching.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>

namespace gputomo::sim::test {
namespace {

using testing::HasSubstr;

constexpr std::uint32_t kBlocks = 3205;  // of two warps; 16 are resident, so that these are 200 waves and a part of one

machine::Machine two_sms() {
    auto machine = small_machine();
    machine.topology.sms.set(2);
    return machine;
}

struct Launched {
    Counters counters;
    SampledBlocks blocks;
    std::string failure;
};

/// Launches `body(builder, out, block number)` and samples it if it has more than `above` instructions.
Launched launched(const std::function<void(KernelBuilder&, Reg, Reg)>& body, std::optional<std::uint64_t> above,
                  std::uint32_t blocks = kBlocks) {
    const auto gpu = make_device(two_sms(), {});
    if (above) gpu->sample(SamplingPlan{*above});
    KernelBuilder k("sampled", kTarget);
    const Reg out = k.param(Type::u64, "out");
    body(k, out, k.special(SpecialRegister::ctaid_x));
    device::Buffer memory(*gpu, Bytes(4 * kBlocks));
    memory.write(std::vector<std::uint32_t>(kBlocks));
    const auto module = gpu->load(k.text());
    device::Launch launch{.grid = {blocks}, .block = {64}, .time_limit = std::chrono::seconds(20)};
    launch.arguments.add(memory.address());
    Launched result;
    result.failure = message_of([&] { module->kernel(k.name()).launch(launch); });
    result.counters = gpu->counters();
    result.blocks = gpu->sampled_blocks();
    if (result.failure.empty() && !result.blocks.complete()) {
        EXPECT_THAT(message_of([&] { (void)memory.read<std::uint32_t>(1); }), HasSubstr("memory is incomplete"));
    }
    return result;
}

void add_and_store(KernelBuilder& k, Reg out, Reg block, const ptx::Arg& times) {
    const Reg sum = k.reg(Type::u32);
    k("mov.u32", sum, block);
    k.loop(times, [&] { k("add.u32", sum, sum, block); });
    k("st.global.u32", Mem(k.element(out, block, Bytes(4))), sum);
}

void equal_blocks(KernelBuilder& k, Reg out, Reg block) { add_and_store(k, out, block, 20); }

/// Blocks whose work grows with their number.
void growing_blocks(KernelBuilder& k, Reg out, Reg block) {
    const Reg times = k.reg(Type::u32);
    k("shr.u32", times, block, 6);
    k("add.u32", times, times, 4);
    add_and_store(k, out, block, times);
}

/// Each block waits until the one before it has stored its flag.
void waiting_blocks(KernelBuilder& k, Reg out, Reg block, const char* load) {
    const Reg before = k.reg(Type::u32), flag = k.reg(Type::u32), waits = k.reg(Type::pred);
    k("max.u32", before, block, 1);
    k("sub.u32", before, before, 1);
    const Reg from = k.element(out, before, Bytes(4)), to = k.element(out, block, Bytes(4));
    k("mov.u32", flag, block);
    k("min.u32", flag, flag, 1);
    k("sub.u32", flag, 1, flag);  // block 0 does not wait
    k.while_(
        [&] {
            k("setp.eq.u32", waits, flag, 0);
            return ptx::Condition(waits);
        },
        [&] { k(load, flag, Mem(from)); });
    k("st.global.u32", Mem(to), 1);
}

double ratio(std::uint64_t sampled, std::uint64_t whole) {
    return static_cast<double>(sampled) / static_cast<double>(whole);
}

TEST(SampledLaunches, OfEqualBlocksTakeAsLongAsTheWhole) {
    const auto whole = launched(equal_blocks, std::nullopt), sampled = launched(equal_blocks, 0);
    EXPECT_TRUE(whole.blocks.complete());
    EXPECT_LT(sampled.blocks.simulated, kBlocks / 10);
    EXPECT_EQ(sampled.blocks.of, kBlocks);
    EXPECT_LT(sampled.blocks.error, 0.02);
    EXPECT_NEAR(ratio(sampled.counters.cycles, whole.counters.cycles), 1, 0.02);
    EXPECT_NEAR(ratio(sampled.counters.warp_instructions, whole.counters.warp_instructions), 1, 0.005);
    EXPECT_NEAR(ratio(sampled.counters.memory_transactions, whole.counters.memory_transactions), 1, 0.02);
}

TEST(SampledLaunches, OfGrowingBlocksAreWithinTheStatedError) {
    const auto whole = launched(growing_blocks, std::nullopt), sampled = launched(growing_blocks, 0);
    EXPECT_LT(sampled.blocks.simulated, kBlocks / 4);
    EXPECT_NEAR(ratio(sampled.counters.cycles, whole.counters.cycles), 1, sampled.blocks.error + 0.005);
}

TEST(SampledLaunches, RepeatThemselves) {
    const auto one = launched(growing_blocks, 0), other = launched(growing_blocks, 0);
    EXPECT_EQ(one.counters.cycles, other.counters.cycles);
    EXPECT_EQ(one.blocks.simulated, other.blocks.simulated);
}

TEST(SampledLaunches, AreThoseAboveThePlansInstructionsWithManyBlocks) {
    const auto instructions = launched(equal_blocks, std::nullopt).counters.warp_instructions;
    EXPECT_TRUE(launched(equal_blocks, instructions).blocks.complete());
    for (const std::uint32_t blocks : {5U, 32U, 80U, 160U})
        EXPECT_TRUE(launched(equal_blocks, 0, blocks).blocks.complete()) << blocks;
}

TEST(SampledLaunches, AreNotThoseThatLoadPastTheL1) {
    const auto waiting = launched(
        [](KernelBuilder& k, Reg out, Reg block) { waiting_blocks(k, out, block, "ld.volatile.global.u32"); }, 0);
    EXPECT_EQ(waiting.failure, "");
    EXPECT_TRUE(waiting.blocks.complete());
}

TEST(SampledLaunches, FailWhereABlockWaitsForASkippedOne) {
    const auto waiting =
        launched([](KernelBuilder& k, Reg out, Reg block) { waiting_blocks(k, out, block, "ld.global.u32"); }, 0);
    EXPECT_THAT(waiting.failure, HasSubstr("as long as any before it"));
    EXPECT_THAT(waiting.failure, HasSubstr("simulate the whole launch"));
}

}  // namespace
}  // namespace gputomo::sim::test
