// Parts of lines that DRAM reads and writes far from others.
#include "costs/scattered_accesses.hpp"

#include "memory_fixture.hpp"
#include "sim/memory/dram.hpp"

#include <gtest/gtest.h>

namespace gputomo::sim::test {
namespace {

constexpr std::uint64_t kFar = 1 << 16;

TEST(ScatteredAccesses, TakeTheirBytesInAStream) {
    costs::ScatteredAccesses reads({.read = 120, .write = 158});
    EXPECT_EQ(reads.read(0, 64), 120);
    EXPECT_EQ(reads.read(kFar, 64), 120);
    EXPECT_EQ(reads.read(kFar + 128, 64), 64) << "of the next line";
    EXPECT_EQ(reads.read(3 * kFar, 128), 128) << "whole lines";
    for (std::uint64_t i = 10; i < 50; ++i) (void)reads.read(i * kFar, 64);
    EXPECT_EQ(reads.read(0, 64), 120) << "long ago";
    costs::ScatteredAccesses writes({.read = 120, .write = 158});
    EXPECT_EQ(writes.write(0, 32), 158);
    EXPECT_EQ(writes.write(32, 32), 64) << "memory moves no less";
    EXPECT_EQ(costs::ScatteredAccesses({}).write(0, 32), 32) << "not described";
}

double memory_busy(bool writes, std::uint64_t apart) {
    machine::Machine m = bare_machine();
    m.memory.channels.set(1);
    m.memory.scattered_read_bytes.set(120);
    m.memory.scattered_write_bytes.set(158);
    Dram dram(m);
    for (std::uint64_t i = 0; i < 1000; ++i) {
        if (writes)
            (void)dram.write(i * apart, 64, 0);
        else
            (void)dram.read(i * apart, 64, 0);
    }
    return dram.busy_until();
}

TEST(ScatteredAccesses, OccupyMemoryForLonger) {
    EXPECT_NEAR(memory_busy(false, kFar), 1000 * 120 / 100.0, 10);
    EXPECT_NEAR(memory_busy(true, kFar), 1000 * 158 / 100.0, 20);
    EXPECT_NEAR(memory_busy(false, 256), 1000 * (120 + 64) / 2 / 100.0, 10);
}

TEST(ScatteredAccesses, AreNoPartOfBanks) {
    machine::Machine m = bare_machine();
    m.memory.scattered_read_bytes.set(120);
    m.memory.channel_banks.set(4);
    m.memory.bank_cycles.set(1);
    m.memory.fetch_bytes.set(64);
    m.memory.burst_bytes.set(64);
    Dram dram(m);
    for (std::uint64_t i = 0; i < 1000; ++i) (void)dram.read(i * kFar, 64, 0);
    m.memory.scattered_read_bytes = {};
    Dram plain(m);
    for (std::uint64_t i = 0; i < 1000; ++i) (void)plain.read(i * kFar, 64, 0);
    EXPECT_EQ(dram.busy_until(), plain.busy_until());
}

TEST(ScatteredAccesses, OfLinesWrittenInPartReachMemoryOnce) {
    auto l2 = make_cache({.scope = "gpu", .sector = 32, .ways = 2, .sets = 1, .latency = 200});
    l2.write_policy.set("write-back");
    l2.allocation.set("load-store");
    l2.partial_capacity.set(128);
    Rig rig(machine_with({{"l2", l2}}));
    const auto store_word = [&](std::uint64_t address) {
        (void)rig.latency({.address = address,
                           .bytes = 32,
                           .kind = AccessKind::store,
                           .touched = 32,
                           .partial = true,
                           .written = costs::LineBytes(address, 4),
                           .asked = 4,
                           .pieces = 1});
    };
    store_word(0);
    store_word(kFar);  // one line is kept in part, so that memory fills the first one up
    EXPECT_EQ(rig.counters().dram_bytes, 32U + 32U);
    for (std::uint64_t line = 2; line < 6; ++line) (void)rig.load(line * kFar);  // these displace both
    EXPECT_EQ(rig.counters().dram_bytes, 4 * 32U + 32U + 32U) << "the second one is filled up when it leaves";
}

}  // namespace
}  // namespace gputomo::sim::test
