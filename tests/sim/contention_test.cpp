// Reads of a loaded memory wait as long as the description says.
#include "sim/memory/contention.hpp"
#include "sim/memory/dram.hpp"
#include "units/error.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace gputomo::sim {
namespace {

constexpr double kMhz = 2000;
constexpr double kSlope = 80, kLimit = 1000;  // cycles, bytes per cycle

machine::Machine loaded_memory() {
    machine::Machine m;
    m.clock.sm_mhz.set(kMhz);
    m.memory.read_bandwidth.set(2000);
    m.memory.contention_slopes.set({kSlope});
    m.memory.contention_limits.set({kLimit * kMhz / 1000});
    return m;
}

/// Reads `bytes_per_cycle` until `end`, in accesses of 64 cycles' worth.
void read(Contention& contention, double bytes_per_cycle, double end) {
    for (double now = 0; now < end; now += 64) contention.add_read(now, 64 * bytes_per_cycle);
}

TEST(Contention, WithoutLeavesNothingWaits) {
    machine::Machine m;
    m.clock.sm_mhz.set(kMhz);
    Contention contention(m);
    read(contention, 900, 4096);
    contention.add_write(4000, 96);
    EXPECT_EQ(contention.wait(0, 4096), 0);
}

TEST(Contention, WaitsGrowWithThroughputAsDescribed) {
    for (const double share : {0.0, 0.25, 0.5, 0.75}) {
        Contention contention(loaded_memory());
        read(contention, share * kLimit, 4096);
        EXPECT_NEAR(contention.wait(0, 4096), kSlope * share / (1 - share), 1e-6) << share;
    }
}

TEST(Contention, AtTheLimitWaitsStayFinite) {
    Contention contention(loaded_memory());
    read(contention, 2 * kLimit, 4096);
    EXPECT_NEAR(contention.wait(0, 4096), kSlope * 0.9 / 0.1, 1e-6);
}

TEST(Contention, OnlyTheTimeJustBeforeCounts) {
    Contention contention(loaded_memory());
    read(contention, kLimit / 2, 4096);
    EXPECT_EQ(contention.wait(0, 4096 + 8192), 0);
    EXPECT_EQ(contention.wait(0, 0), 0);
    contention.begin_launch();
    EXPECT_EQ(contention.wait(0, 4096), 0);
}

TEST(Contention, AccessesMayBeAddedOutOfOrder) {
    Contention contention(loaded_memory());
    for (double now = 4096 - 64; now >= 0; now -= 64) contention.add_read(now, 64 * kLimit / 2);
    EXPECT_NEAR(contention.wait(0, 4096), kSlope, 1e-6);
}

TEST(Contention, ReadsThatMeetWritesWaitForTheRestOfThem) {
    auto m = loaded_memory();
    m.memory.write_delay.set(1000);
    Contention contention(m);
    // Reads of both halves of the memory at many moments, at a share that stays the same.
    double sum = 0, later = 0, longest = 0;
    int waiting = 0, reads = 0;
    for (double now = 0; now < 400 * 128; now += 128) {
        for (double at = now - 1024; at < now; at += 64)
            if (at >= now - 128 || now < 128) contention.add_write(at, 16);
        const double first = contention.wait(0, now), second = contention.wait(256, now);
        EXPECT_EQ(contention.wait(128, now), first) << "of one piece";
        sum += first + second;
        later += std::max(first, second);
        longest = std::max({longest, first, second});
        waiting += (first > 0) + (second > 0);
        reads += 2;
    }
    EXPECT_NEAR(static_cast<double>(waiting) / reads, 0.25, 0.03) << "the share of the time in which DRAM writes";
    EXPECT_NEAR(sum / reads, 0.25 * 1000 / 2, 15);
    EXPECT_NEAR(later / reads * 2, 0.25 * 1000, 30) << "two pieces that belong to different halves";
    EXPECT_NEAR(longest, 1000, 10);
}

TEST(Contention, EachSlopeNeedsALimit) {
    auto m = loaded_memory();
    m.memory.contention_slopes.set({1, 2});
    EXPECT_THROW(Contention{m}, InputError);
    m.memory.contention_slopes.set({-1});
    EXPECT_THROW(Contention{m}, InputError);
}

/// Where banks are described, reads queue there.
TEST(Contention, DescribedBanksTakeItsPlace) {
    const auto last_delay = [](bool banks, bool contention) {
        auto m = loaded_memory();
        if (!contention) m.memory.contention_slopes = {}, m.memory.contention_limits = {};
        if (banks) {
            m.memory.channels.set(4);
            m.memory.channel_banks.set(16);
            m.memory.bank_cycles.set(20);
            m.memory.fetch_bytes.set(128);
            m.memory.burst_bytes.set(32);
        }
        Dram dram(m);
        double delay = 0;
        for (int i = 0; i < 512; ++i) delay = dram.read(static_cast<std::uint64_t>(i) * 128, 128, i * 4.0).delay;
        return delay;
    };
    EXPECT_GT(last_delay(false, true), last_delay(false, false));
    EXPECT_EQ(last_delay(true, true), last_delay(true, false));
}

}  // namespace
}  // namespace gputomo::sim
