// Every kernel is PTX that the parser, and so the simulated GPU, reads.
#include "experiments/arithmetic/loops.hpp"
#include "experiments/pointer_chase_kernels.hpp"
#include "experiments/shared_kernel.hpp"
#include "experiments/streaming.hpp"
#include "ptx/parser.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace gputomo::experiments {
namespace {

constexpr ptx::Target kTarget{6, 0, 30};

std::ptrdiff_t count(const ptx::KernelBuilder& kernel, ptx::Opcode opcode) {
    const auto module = ptx::parse(kernel.text());
    return std::ranges::count(module.kernels.at(0).body, opcode, &ptx::Instruction::opcode);
}

TEST(KernelsTest, ChainsHoldNAndTwiceNOperations) {
    for (const auto& operation : timed_operations()) {
        const auto one = doubled_chain_kernel(kTarget, operation, {.length = 128, .chains = 1});
        const auto four = doubled_chain_kernel(kTarget, operation, {.length = 128, .chains = 4});
        const auto opcode = ptx::parse(one.text()).kernels.at(0);
        std::map<ptx::Opcode, int> counts;
        for (const auto& instruction : opcode.body) ++counts[instruction.opcode];
        const auto most = std::ranges::max_element(counts, {}, [](const auto& entry) { return entry.second; });
        EXPECT_NEAR(most->second, 3 * 128, 8) << operation.mnemonic;
        EXPECT_NEAR(static_cast<double>(count(four, most->first)), 3 * 4 * 128, 8) << operation.mnemonic;
    }
}

TEST(KernelsTest, LatencyKernelsKeepTheClockReadsOfEachPart) {
    const auto kernel = doubled_chain_kernel(kTarget, timed_operations()[0], {});
    EXPECT_EQ(count(kernel, ptx::Opcode::pmevent), 4);
    EXPECT_EQ(count(kernel, ptx::Opcode::bar), 2);
}

TEST(KernelsTest, SharedLoadsAreAsWideAsAsked) {
    for (const int width : {1, 2, 4}) {
        const auto module = ptx::parse(shared_chase_kernel(kTarget, {.width = width, .length = 64}).text());
        const auto loads = std::ranges::count_if(module.kernels.at(0).body, [&](const ptx::Instruction& i) {
            return i.opcode == ptx::Opcode::ld && i.space == ptx::Space::shared && i.vector_width == width && i.has("volatile");
        });
        EXPECT_EQ(loads, 3 * 64);
    }
}

TEST(KernelsTest, ChaseLoadsCarryTheirCacheHint) {
    const std::pair<LoadHint, std::string_view> hints[] = {{LoadHint::all, "ca"}, {LoadHint::l2_only, "cg"}, {LoadHint::none, "volatile"}};
    for (const auto& [hint, modifier] : hints) {
        for (const auto& kernel : {average_chase_kernel(kTarget, hint, 8), fine_chase_kernel(kTarget, {.hint = hint})}) {
            const auto module = ptx::parse(kernel.text());
            for (const auto& i : module.kernels.at(0).body) {
                if (i.opcode == ptx::Opcode::ld && i.space == ptx::Space::global) {
                    EXPECT_TRUE(i.has(modifier)) << kernel.name();
                }
            }
        }
    }
}

TEST(KernelsTest, StreamsKeepTheirAccessesInFlight) {
    EXPECT_EQ(count(streaming_kernel(kTarget, StreamKind::copy, 8), ptx::Opcode::st), 8 + 1);
    EXPECT_EQ(count(streaming_kernel(kTarget, StreamKind::read, 8), ptx::Opcode::xor_), 8 * 4);
}

}  // namespace
}  // namespace gputomo::experiments
