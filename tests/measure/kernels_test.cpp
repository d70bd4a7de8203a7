// The PTX of each kernel is readable for the parser, and so for the simulated GPU.
#include "measure/bandwidth/streaming.hpp"
#include "measure/chase/pointer_chase_kernels.hpp"
#include "measure/throughput/shared_chase.hpp"
#include "measure/throughput/timed_chains.hpp"
#include "ptx/instructions.hpp"
#include "ptx/parser.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace gputomo::measure {
namespace {

constexpr ptx::Target kTarget{6, 0, 30};

std::ptrdiff_t count(const ptx::KernelBuilder& kernel, ptx::Opcode opcode) {
    const auto module = ptx::parse(kernel.text());
    return std::ranges::count(module.kernels.at(0).body, opcode, &ptx::Instruction::opcode);
}

TEST(KernelsTest, ChainsHoldNAndTwiceNOperations) {
    for (const auto& operation : all_operations()) {
        if (operation.code.find(';') != std::string_view::npos) continue;  // has several instructions
        const auto wanted = ptx::look_up(operation.name)->instruction.opcode;
        EXPECT_NEAR(
            static_cast<double>(count(doubled_chain_kernel(kTarget, operation, {.length = 32, .chains = 1}), wanted)),
            3 * 32, 8)
            << operation.name;
        EXPECT_NEAR(
            static_cast<double>(count(doubled_chain_kernel(kTarget, operation, {.length = 32, .chains = 4}), wanted)),
            3 * 4 * 32, 8)
            << operation.name;
    }
}

TEST(KernelsTest, LoopsMixTheirPartsEvenly) {
    const auto& operations = all_operations();
    const LoopPart parts[] = {{operations[0], 8, 2}, {operations[3], 24, 2}};
    const auto module = ptx::parse(chain_loop_kernel(kTarget, parts).text());
    std::string order;
    for (const auto& i : module.kernels.at(0).body)
        if (i.opcode == ptx::Opcode::add && i.type != ptx::Type::u32 && i.type != ptx::Type::u64)
            order += i.type == ptx::Type::s32 ? 'i' : 'f';
    std::string wanted;
    for (int n = 0; n < 8; ++n) wanted += "ffif";
    EXPECT_EQ(order.size(), wanted.size());
    EXPECT_EQ(std::ranges::count(order, 'i'), 8);
    for (std::size_t at = 0; at + 4 <= order.size(); at += 4)
        EXPECT_EQ(std::ranges::count(order.substr(at, 4), 'i'), 1) << order;
}

TEST(KernelsTest, OperationsMatchTheTarget) {
    const auto offered = [](ptx::Target target, std::string_view name) {
        const auto operations = timed_operations(target);
        return std::ranges::find(operations, name, &TimedOperation::name) != operations.end();
    };
    EXPECT_FALSE(offered({8, 0, 13}, "popc.b32"));
    EXPECT_TRUE(offered({8, 0, 13}, "__tanf"));
    EXPECT_TRUE(offered({8, 0, 90}, "redux.sync.add.u32"));
    EXPECT_FALSE(offered({6, 0, 90}, "redux.sync.add.u32"));
    EXPECT_FALSE(offered({8, 0, 90}, "shfl.bfly.b32"));
}

TEST(KernelsTest, LatencyKernelsKeepTheClockReadsOfEachPart) {
    const auto kernel = doubled_chain_kernel(kTarget, all_operations()[0], {});
    EXPECT_EQ(count(kernel, ptx::Opcode::pmevent), 4);
    EXPECT_EQ(count(kernel, ptx::Opcode::bar), 2);
}

TEST(KernelsTest, SharedLoadsHaveTheRequestedWidth) {
    for (const int width : {1, 2, 4}) {
        const auto module = ptx::parse(shared_chase_kernel(kTarget, {.width = width, .length = 64}).text());
        const auto loads = std::ranges::count_if(module.kernels.at(0).body, [&](const ptx::Instruction& i) {
            return i.opcode == ptx::Opcode::ld && i.space == ptx::Space::shared && i.vector_width == width &&
                   i.has("volatile");
        });
        EXPECT_EQ(loads, 3 * 64);
    }
}

TEST(KernelsTest, ChaseLoadsCarryTheirCacheHint) {
    const std::pair<LoadHint, std::string_view> hints[] = {
        {LoadHint::all, "ca"}, {LoadHint::l2_only, "cg"}, {LoadHint::none, "volatile"}};
    for (const auto& [hint, modifier] : hints) {
        for (const auto& kernel :
             {average_chase_kernel(kTarget, hint, 8), fine_chase_kernel(kTarget, {.hint = hint})}) {
            const auto module = ptx::parse(kernel.text());
            for (const auto& i : module.kernels.at(0).body) {
                if (i.opcode == ptx::Opcode::ld && i.space == ptx::Space::global) {
                    EXPECT_TRUE(i.has(modifier)) << kernel.name();
                }
            }
        }
    }
}

TEST(KernelsTest, StreamsKeepAllAccessesInFlight) {
    EXPECT_EQ(count(streaming_kernel(kTarget, StreamKind::copy, 8), ptx::Opcode::st), 8 + 1);
    EXPECT_EQ(count(streaming_kernel(kTarget, StreamKind::read, 8), ptx::Opcode::xor_), 8 * 4);
}

}  // namespace
}  // namespace gputomo::measure
