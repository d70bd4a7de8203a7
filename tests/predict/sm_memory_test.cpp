// What the replay of one SM asks of what all SMs share.
#include "replay_kernel.hpp"

#include <gtest/gtest.h>

namespace gputomo::predict {
namespace {

TEST(SmMemory, PartsOfLinesFarApartOccupyMemoryForLonger) {
    Kernel kernel({kLoad, kUse}, 4, 4);
    kernel.touch(0, launch::AccessKind::load, 1000);
    SmRates scattered = rates();
    scattered.partial_stores.scattered = {.read = 96, .write = 128};
    EXPECT_DOUBLE_EQ(kernel.run(scattered).busy.at(kDram), 16 * 128 / 64.0) << "whole lines";
    for (auto& block : kernel.blocks)
        for (auto& line : block.lines) line.sectors = 1;
    EXPECT_DOUBLE_EQ(kernel.run(scattered).busy.at(kDram), 16 * 96 / 64.0);
    EXPECT_DOUBLE_EQ(kernel.run().busy.at(kDram), 16 * 32 / 64.0);
    Shares completed = kAlone;
    completed.completed_reads = true;
    EXPECT_DOUBLE_EQ(kernel.run(scattered, completed).busy.at(kDram), 16 * 32 / 64.0) << "by other SMs";
    EXPECT_DOUBLE_EQ(kernel.run(scattered).dram_read_bytes, 16 * 32);
}

TEST(SmMemory, WrittenPartsOfLinesOccupyMemoryForLonger) {
    Kernel kernel({{.kind = launch::StepKind::global, .stall = 2}}, 1, 8);
    kernel.touch(0, launch::AccessKind::store);
    Shares shares = kAlone;
    shares.written_back = 1;
    shares.write_cost = 1.5;
    shares.scattered = 4;
    EXPECT_DOUBLE_EQ(kernel.run(rates(), shares).busy.at(kDram), 8 * 128 * (4 + 0.5) / 64);
}

/// Eight warps that store the first word of a line each.
Kernel storing_words() {
    Kernel kernel({{.kind = launch::StepKind::global, .stall = 2}}, 1, 8);
    kernel.touch(0, launch::AccessKind::store, 1000);
    for (auto& line : kernel.blocks[0].lines) {
        line.sectors = 1;
        line.partial = true;
        line.written = costs::LineBytes(0, 4);
    }
    return kernel;
}

TEST(SmMemory, SectorsWrittenInPartReachMemoryOnce) {
    Kernel kernel = storing_words();
    SmRates filling = rates();
    filling.partial_stores.kept_lines = 1;
    filling.partial_stores.scattered = {.read = 96, .write = 160};
    for (const double kept : {0.0, 0.5, 1.0}) {
        Shares shares = kAlone;
        shares.written_back = 1 - kept;
        const Timeline timeline = kernel.run(filling, shares);
        // One of eight lines is kept in part. The L2 has it in the end as far as it keeps what is written.
        EXPECT_DOUBLE_EQ(timeline.dram_read_bytes, 7 * 32) << kept;
        EXPECT_DOUBLE_EQ(timeline.dram_written_bytes, (7 + 1 - kept) * 32) << kept;
        EXPECT_NEAR(timeline.busy.at(kDram), (7 * (96 + 160) + (1 - kept) * 32) / 64, 1e-9) << kept;
    }
}

TEST(SmMemory, LinesThatSeveralSmsWriteAreKeptOnce) {
    Kernel kernel = storing_words();
    SmRates filling = rates();
    filling.partial_stores.kept_lines = 2;
    Shares shares = kAlone;
    EXPECT_DOUBLE_EQ(kernel.run(filling, shares).dram_read_bytes, 6 * 32);
    shares.writers = 3;
    EXPECT_DOUBLE_EQ(kernel.run(filling, shares).dram_read_bytes, 2 * 32) << "three SMs keep the same two lines";
    shares.completed_writes = true;
    EXPECT_DOUBLE_EQ(kernel.run(filling, shares).dram_read_bytes, 0) << "the other SMs write the rest";
}

TEST(SmMemory, StoresOfPartsOfALinePayForTheirRequests) {
    Kernel kernel({{.kind = launch::StepKind::global, .stall = 1}}, 1, 8);
    kernel.touch(0, launch::AccessKind::store, 1000);
    for (auto& line : kernel.blocks[0].lines) line.sectors = 1;
    SmRates heads = rates();
    heads.stores = {.sm = 0, .gpu = 4};
    const double without = kernel.run(heads).busy.at(kL2Stores);
    EXPECT_DOUBLE_EQ(without, 8 * 32 / 4.0);
    heads.partial_stores.request = 32;
    EXPECT_DOUBLE_EQ(kernel.run(heads).busy.at(kL2Stores), 8 * 128 * 64 / 160.0 / 4);
    // Four stores to each line: three of them join the first one while it waits.
    heads.partial_stores.merged_lines = 32;
    for (std::size_t i = 0; i < 8; ++i) kernel.blocks[0].lines[i] = {1000 + i / 4, 1U << i % 4};
    EXPECT_LT(kernel.run(heads).busy.at(kL2Stores), 8 * 128 * 64 / 160.0 / 4);
}

}  // namespace
}  // namespace gputomo::predict
