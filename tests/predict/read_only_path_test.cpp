// When code and constants are in the first cache of an SM.
#include "predict/launch/read_only_path.hpp"

#include <gtest/gtest.h>

namespace gputomo::predict {
namespace {

/// A cache of 4 lines for each scheduler, one of 32 lines that fetches two lines ahead, and one of 64 longer lines.
ReadOnlyRates supply_rates() {
    return {.caches = {{.bytes = 512, .line = 128, .latency = 2, .of_scheduler = true},
                       {.bytes = 4096, .line = 128, .latency = 10, .lines_ahead = 2},
                       {.bytes = 16384, .line = 256, .latency = 60}},
            .l2_latency = 280,
            .memory_latency = 700,
            .loaded = 1024};
}

TEST(ReadOnlyPath, WhatTheLaunchBringsComesFromTheLastNearCache) {
    const auto from = supply_rates();
    ReadOnlyPath path(from, 2, 1);
    EXPECT_EQ(path.there(0, 0, 100), 100 + 58);
    EXPECT_EQ(path.there(16, 0, 200), 200) << "the same line";
    EXPECT_EQ(path.there(128, 0, 200), 200 + 8) << "it came with the first line";
    EXPECT_EQ(path.there(0, 1, 200), 200 + 8) << "another scheduler has a first cache of its own";
}

TEST(ReadOnlyPath, TheRestComesFromMemoryOnce) {
    const auto from = supply_rates();
    ReadOnlyPath path(from, 1, 1);
    EXPECT_EQ(path.there(2048, 0, 0), 698);
    EXPECT_EQ(path.there(2176, 0, 100), 698) << "it is on its way";
    EXPECT_EQ(path.there(2432, 0, 1000), 1008) << "the hit asked for the line at the same distance";
    EXPECT_EQ(path.there(3072, 0, 1000), 1698);
    // 64 lines of 256 bytes later, the last cache has lost it, and the L2 has it.
    for (std::uint64_t at = 4096; at < 4096 + 64 * 256; at += 128) (void)path.there(at, 0, 2000);
    EXPECT_EQ(path.there(2048, 0, 9000), 9278);
}

TEST(ReadOnlyPath, PrefetchedLinesAreThere) {
    auto from = supply_rates();
    from.prefetched_lines = 1;
    ReadOnlyPath path(from, 1, 1);
    (void)path.there(0, 0, 0);
    EXPECT_EQ(path.there(128, 0, 100), 100);
}

TEST(ReadOnlyPath, AnSmReadsALaterCacheAtItsRate) {
    auto from = supply_rates();
    from.caches[1].lines_ahead = 0;
    from.caches[2].cycles_of_byte = 0.25;
    ReadOnlyPath path(from, 1, 1);
    EXPECT_EQ(path.there(0, 0, 100), 158);
    EXPECT_EQ(path.there(128, 0, 100), 158 + 32) << "128 bytes take 32 cycles";
    ReadOnlyPath idle(from, 1, 0);
    (void)idle.there(0, 0, 100);
    EXPECT_EQ(idle.there(128, 0, 100), 158);
}

machine::Machine described_supply() {
    machine::Machine m;
    const auto cache = [&](const char* key, const char* scope, std::int64_t latency) {
        m.caches[key].scope.set(scope);
        m.caches[key].capacity.set(4096);
        m.caches[key].line.set(128);
        m.caches[key].latency.set(latency);
    };
    cache("i1", "scheduler", 0);
    cache("i2", "gpc", 60);
    cache("l2", "gpu", 280);
    m.caches["i2"].fetched_ahead.set(256);
    m.paths["instruction"].caches.set({"i1", "i2", "l2"});
    m.paths["instruction"].memory_latency.set(700);
    return m;
}

TEST(ReadOnlyPath, RatesAreThoseOfTheDescription) {
    const auto found = read_only_rates_of(described_supply(), "instruction");
    ASSERT_EQ(found.caches.size(), 2U);
    EXPECT_TRUE(found.caches[0].of_scheduler);
    EXPECT_EQ(found.caches[1].lines_ahead, 2U);
    EXPECT_EQ(found.l2_latency, 280);
    EXPECT_EQ(found.memory_latency, 700);
}

TEST(ReadOnlyPath, NothingIsWaitedForWhereThePathIsNotDescribed) {
    auto machine = described_supply();
    EXPECT_TRUE(read_only_rates_of(machine, "constant").caches.empty());
    machine.caches["i2"].capacity = {};
    EXPECT_TRUE(read_only_rates_of(machine, "instruction").caches.empty()) << "a level without a size";
    machine = described_supply();
    machine.paths["instruction"].caches.set({"i1", "i2"});
    EXPECT_TRUE(read_only_rates_of(machine, "instruction").caches.empty()) << "no L2 behind them";
}

}  // namespace
}  // namespace gputomo::predict
