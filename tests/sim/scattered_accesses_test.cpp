// Parts of lines that DRAM reads and writes far from others.
#include "costs/scattered_accesses.hpp"

#include "memory_fixture.hpp"
#include "sim/memory/dram.hpp"

#include <gtest/gtest.h>

namespace gputomo::sim::test {
namespace {

constexpr std::uint64_t kFar = 1 << 16;

TEST(ScatteredAccesses, TakeTheirBytesInAStream) {
    costs::ScatteredAccesses reads({.read = 120, .write = 158}, 32);
    EXPECT_EQ(reads.read(0, 64), 120);
    EXPECT_EQ(reads.read(kFar, 64), 120);
    EXPECT_EQ(reads.read(kFar + 128, 64), 64) << "of the next line";
    EXPECT_EQ(reads.read(3 * kFar, 128), 128) << "whole lines";
    for (std::uint64_t i = 10; i < 50; ++i) (void)reads.read(i * kFar, 64);
    EXPECT_EQ(reads.read(0, 64), 120) << "long ago";
    costs::ScatteredAccesses writes({.read = 120, .write = 158}, 32);
    EXPECT_EQ(writes.write(0, 32), 158);
    EXPECT_EQ(writes.write(32, 32), 64) << "memory moves no less";
    EXPECT_EQ(costs::ScatteredAccesses({}, 32).write(0, 32), 32) << "not described";
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

/// Four loads of each warp, whose lanes have four neighbouring lines each. Warps of all SMs take turns.
TEST(ScatteredAccesses, AreNearThoseOfTheSameSm) {
    machine::Machine m = bare_machine();
    m.memory.channels.set(1);
    m.memory.scattered_read_bytes.set(120);
    constexpr std::uint64_t kSms = 8, kLanes = 32, kLoads = 4, kWarps = 4;
    Dram dram(m);
    for (std::uint64_t load = 0; load < kLoads; ++load)
        for (std::uint64_t warp = 0; warp < kSms * kWarps; ++warp)
            for (std::uint64_t lane = 0; lane < kLanes; ++lane)
                (void)dram.read((warp * kLanes + lane) * kFar + load * 128, 64, 0,
                                static_cast<std::uint32_t>(warp % kSms));
    constexpr double kReads = kSms * kWarps * kLanes;
    EXPECT_NEAR(dram.busy_until(), kReads * (120 + 3 * 64) / 100.0, 10);
    Dram other(m);
    for (std::uint64_t sm = 0; sm < kSms; ++sm) (void)other.read(sm * 128, 64, 0, static_cast<std::uint32_t>(sm));
    EXPECT_NEAR(other.busy_until(), kSms * 120 / 100.0, 1) << "lines of which each SM reads one";
}

/// A cache with sectors of 64 bytes: one half of a sector is written in part, the other one as a whole.
TEST(ScatteredAccesses, WriteTheWholeHalfOfASectorBack) {
    auto l2 = make_cache({.scope = "gpu", .sector = 64, .ways = 2, .sets = 1, .latency = 200});
    l2.write_policy.set("write-back");
    l2.allocation.set("load-store");
    l2.partial_capacity.set(128);
    Rig rig(machine_with({{"l2", l2}}));
    const auto store = [&](std::uint64_t address, std::uint32_t written) {
        (void)rig.latency({.address = address,
                           .bytes = 32,
                           .kind = AccessKind::store,
                           .touched = 32,
                           .partial = written < 32,
                           .written = costs::LineBytes(address, written),
                           .asked = written,
                           .pieces = 1});
    };
    store(0, 4);
    store(32, 32);
    store(kFar, 4);  // one line is kept in part, so that memory fills the first one up
    EXPECT_EQ(rig.counters().dram_bytes, 32U + 2 * 32U) << "a sector is read, and two are written";
}

/// Cycles for which memory is busy with 16 lines that it fills up, between reads of SMs that are far from everything.
double filling_time(bool stores) {
    auto l2 = make_cache({.scope = "gpu", .sector = 32, .ways = 16, .sets = 64, .latency = 200});
    l2.write_policy.set("write-back");
    l2.allocation.set("load-store");
    l2.partial_capacity.set(128);
    auto machine = machine_with({{"l2", l2}});
    machine.memory.channels.set(1);
    machine.memory.scattered_read_bytes.set(120);
    Rig rig(machine);
    constexpr std::uint64_t kFilled = 16, kBetween = 40;
    std::uint64_t far = 1000 * kFar;
    const auto read_far = [&] { return rig.memory->access({.address = far += kFar, .bytes = 4}, 0); };
    for (std::uint64_t line = 0; line <= kFilled; ++line) {
        if (stores)
            (void)rig.memory->access({.address = line * 128,
                                      .bytes = 32,
                                      .kind = AccessKind::store,
                                      .touched = 32,
                                      .partial = true,
                                      .written = costs::LineBytes(0, 4),
                                      .asked = 4,
                                      .pieces = 1},
                                     0);
        for (std::uint64_t i = 0; i < kBetween; ++i) (void)read_far();
    }
    return read_far();
}

TEST(ScatteredAccesses, OfLinesFilledUpAreNearEachOther) {
    EXPECT_NEAR(filling_time(true) - filling_time(false), (4 * 120 + 12 * 64) / 100.0, 0.5)
        << "the first one of each 512 bytes is far from the others";
}

}  // namespace
}  // namespace gputomo::sim::test
