// Behaviours 100 to 199: instruction fetch alone, on a memory that takes 30 cycles for each request.
#include "unit_memory.hpp"

#include "sim/sm/units/fetch.hpp"

#include <gtest/gtest.h>

namespace gputomo::sim::test {
namespace {

/// Blocks of 32 bytes in lines of 128, of which the pipeline hides a hit of 8 cycles.
struct Fetch : testing::Test {
    FixedLatencyMemory memory{30};
    FetchUnit unit{.spec = {.fetches = true, .block_bytes = 32, .line_bytes = 128, .hidden_latency = 8},
                   .code_end = 0x1400,
                   .memory = memory};
    InstructionBuffer buffer;

    double at(std::uint64_t address, double now) { return fetch(unit, buffer, {.address = address}, now); }
};

using Fetch101 = Fetch;
TEST_F(Fetch101, TheFirstInstructionWaitsForItsBlock) {
    EXPECT_EQ(at(0x1000, 100), 100 + 30 - 8);
    ASSERT_EQ(memory.accesses.size(), 1U);
    EXPECT_EQ(memory.accesses[0].transaction.address, 0x1000U);
    EXPECT_EQ(memory.accesses[0].transaction.bytes, 32U);
    EXPECT_EQ(memory.accesses[0].transaction.path, PathKind::instruction);
}

using Fetch102 = Fetch;
TEST_F(Fetch102, InstructionsOfTheBufferedBlockCostNothing) {
    (void)at(0x1000, 100);
    EXPECT_EQ(at(0x1008, 130), 130);
    EXPECT_EQ(at(0x1018, 140), 140);
    EXPECT_EQ(memory.accesses.size(), 1U);
}

using Fetch103 = Fetch;
TEST_F(Fetch103, ATakenBranchOutOfTheBufferCostsOneFetch) {
    (void)at(0x1000, 100);
    EXPECT_EQ(at(0x1200, 200), 200 + 30 - 8);
    EXPECT_EQ(at(0x1000, 300), 300 + 30 - 8) << "the buffer holds one block only";
}

using Fetch104 = Fetch;
TEST_F(Fetch104, AHitThatThePipelineHidesCostsNothing) {
    unit.spec.hidden_latency = 30;
    EXPECT_EQ(at(0x1000, 100), 100);
}

using Fetch105 = Fetch;
TEST_F(Fetch105, ANewLinePrefetchesTheNextLinesUpToTheEndOfTheCode) {
    unit.spec.prefetch_lines = 2;
    EXPECT_EQ(at(0x1300, 100), 122);
    ASSERT_EQ(memory.accesses.size(), 2U) << "the second line would lie behind the code";
    EXPECT_EQ(memory.accesses[1].transaction.address, 0x1380U);
    EXPECT_EQ(memory.accesses[1].when, 100);
    (void)at(0x1320, 200);
    EXPECT_EQ(memory.accesses.size(), 3U) << "another block of the same line prefetches nothing";
}

}  // namespace
}  // namespace gputomo::sim::test
