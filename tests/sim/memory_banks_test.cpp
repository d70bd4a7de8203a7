// Loads that meet at a DRAM bank wait for each other; single loads take the described latency.
#include "sim/memory/dram.hpp"
#include "units/error.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace gputomo::sim {
namespace {

/// 4 channels of 8 banks; a channel moves 8 bytes per cycle.
machine::Machine banked() {
    machine::Machine m;
    m.clock.sm_mhz.set(1000);
    m.memory.channels.set(4);
    m.memory.channel_bytes_per_cycle.set(8);
    m.memory.channel_banks.set(8);
    m.memory.bank_cycles.set(40);
    m.memory.fetch_bytes.set(128);
    m.memory.burst_bytes.set(32);
    return m;
}

/// Mean wait for the first bytes of lines that arrive at random, at the share `load` of the rate of all banks.
double mean_wait(const machine::Machine& machine, double load, std::uint32_t bytes = 128) {
    Dram dram(machine);
    std::mt19937_64 random(1);
    std::exponential_distribution<double> gap(load * 32 / 40 / 4);
    double now = 0, sum = 0;
    constexpr int kReads = 200'000;
    for (int i = 0; i < kReads; ++i) {
        now += gap(random);
        sum += dram.read(random() >> 20 << 7, bytes, now).delay;
    }
    return sum / kReads;
}

TEST(DramBanks, SingleLoadsDoNotWait) {
    Dram dram(banked());
    for (std::uint64_t i = 0; i < 1000; ++i)
        EXPECT_DOUBLE_EQ(dram.read(i * 128 + 32 * (i % 4), 32, static_cast<double>(i) * 100).delay, 0);
    EXPECT_DOUBLE_EQ(dram.read(0x100000, 512, 1e6).delay, 0) << "the lines of one read";
}

TEST(DramBanks, ASecondReadOfALineHitsItsOpenRow) {
    Dram dram(banked());
    EXPECT_DOUBLE_EQ(dram.read(0x4000, 64, 0).delay, 0);
    EXPECT_DOUBLE_EQ(dram.read(0x4040, 64, 1).delay, 0) << "the other half of the line";
    EXPECT_DOUBLE_EQ(dram.read(0x4000, 64, 45).delay, 0) << "the row was closed and the bank is free again";
    EXPECT_DOUBLE_EQ(dram.read(0x4000, 64, 95).delay, 0);
}

TEST(DramBanks, WaitsLieBetweenOneBanksQueueAndFourInARow) {
    // A single bank is an M/D/1 queue, which waits S rho / (2 (1 - rho)). The last of four bursts waits longer than the
    // mean one and less than all of them together.
    for (const double load : {0.2, 0.5, 0.8}) {
        const double one = 40 * load / (2 * (1 - load)), wait = mean_wait(banked(), load);
        EXPECT_GT(wait, 1.3 * one) << load;
        EXPECT_LT(wait, 4 * one + 4) << load;
    }
}

TEST(DramBanks, AReadWaitsOnlyForTheBurstsThatItNeeds) {
    for (const double load : {0.2, 0.5}) {
        const double one = 40 * load / (2 * (1 - load)), burst = mean_wait(banked(), load, 32),
                     line = mean_wait(banked(), load);
        EXPECT_GT(burst, 0.8 * one) << load;
        EXPECT_LT(burst, 0.75 * line) << "the banks are as busy, but the other bursts are not waited for, at " << load;
    }
    Dram dram(banked());
    EXPECT_DOUBLE_EQ(dram.read(0x4000, 32, 0).delay, 0);
    EXPECT_DOUBLE_EQ(dram.read(0x4060, 32, 1).delay, 0) << "another burst of the line that is in flight";
}

TEST(DramBanks, WaitsGrowWithTheBankTime) {
    auto slow = banked();
    slow.memory.bank_cycles.set(80);
    EXPECT_NEAR(mean_wait(slow, 0.25) / mean_wait(banked(), 0.5), 2, 0.2)
        << "banks are as busy, each time for twice as long";
    EXPECT_GT(mean_wait(slow, 0.45), 5 * mean_wait(slow, 0.25)) << "nine tenths of what banks can do, and half";
}

TEST(DramBanks, RefusesContradictoryDescriptions) {
    auto split = banked();
    split.memory.burst_bytes.set(16);
    EXPECT_THROW(Dram{split}, InputError) << "eight bursts on four channels";
    auto odd = banked();
    odd.memory.fetch_bytes.set(96);
    EXPECT_THROW(Dram{odd}, InputError);
    auto timeless = banked();
    timeless.memory.bank_cycles = {};
    EXPECT_THROW(Dram{timeless}, InputError);
}

}  // namespace
}  // namespace gputomo::sim
