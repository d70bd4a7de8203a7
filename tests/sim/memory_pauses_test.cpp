// A memory that pauses: accesses in a pause wait, and the mean bandwidth is the described one.
#include "memory_fixture.hpp"
#include "sim/memory/dram.hpp"
#include "sim/memory/pauses.hpp"
#include "units/error.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace gputomo::sim {
namespace {

/// Pauses of 200 cycles every 5000; 32 bytes a cycle.
machine::Machine pausing(bool banks = false) {
    machine::Machine m;
    m.clock.sm_mhz.set(2000);
    m.memory.channels.set(4);
    m.memory.read_bandwidth.set(64);
    m.memory.peak_bandwidth.set(80);
    m.memory.pause_interval.set(2500);
    m.memory.pause_time.set(100);
    if (banks) {
        m.memory.channel_banks.set(16);
        m.memory.bank_cycles.set(20);
        m.memory.fetch_bytes.set(128);
        m.memory.burst_bytes.set(32);
    }
    return m;
}

TEST(MemoryPause, WorkingTimeStopsOnlyInPauses) {
    const Pauses pauses(pausing());
    EXPECT_DOUBLE_EQ(pauses.working(4999), 4999);
    EXPECT_DOUBLE_EQ(pauses.working(5000), 5000);
    EXPECT_DOUBLE_EQ(pauses.working(5100), 5000);
    EXPECT_DOUBLE_EQ(pauses.working(5200), 5000);
    EXPECT_DOUBLE_EQ(pauses.working(5300), 5100);
    EXPECT_DOUBLE_EQ(pauses.working(15'250), 15'250 - 600);
    EXPECT_DOUBLE_EQ(pauses.real(4999, 0), 4999);
    EXPECT_DOUBLE_EQ(pauses.real(5000, 0), 5200);
    EXPECT_DOUBLE_EQ(pauses.real(5100, 0), 5300);
    EXPECT_DOUBLE_EQ(pauses.real(5100, 6000), 6000);
    EXPECT_DOUBLE_EQ(pauses.working_share(), 0.96);
    std::mt19937_64 random(1);
    for (int i = 0; i < 10'000; ++i) {
        const double now = static_cast<double>(random() % 100'000'000'000) / 7, into = std::fmod(now, 5000);
        const double start = pauses.real(pauses.working(now), now);
        EXPECT_NEAR(start, now >= 5000 && into < 200 ? now - into + 200 : now, 0.01) << now;
    }
}

TEST(MemoryPause, AReadWaitsForTheEndOfAPause) {
    for (const bool banks : {false, true}) {
        Dram dram(pausing(banks));
        EXPECT_DOUBLE_EQ(dram.read(0, 32, 4000).delay, 0);
        EXPECT_NEAR(dram.read(1 << 20, 32, 10'050).delay, 150, 0.01);
        EXPECT_NEAR(dram.read(2 << 20, 32, 15'199).delay, 1, 0.01);
        EXPECT_NEAR(dram.read(3 << 20, 32, 15'201).delay, 0, 0.01);
    }
}

TEST(MemoryPause, StreamsReachTheDescribedRateDespitePauses) {
    for (const bool paused : {true, false}) {
        auto machine = pausing();
        if (!paused) machine.memory.pause_interval = {}, machine.memory.pause_time = {};
        Dram dram(machine);
        double end = 0;
        constexpr int kLines = 40'000;
        for (int i = 0; i < kLines; ++i) {
            // Enough loads are in flight to hide all waiting.
            const double now = std::max(0.0, end - 2000);
            end = std::max(end, now + dram.read(static_cast<std::uint64_t>(i) * 128, 128, now).delay);
        }
        EXPECT_NEAR(kLines * 128 / end, 32, 0.5) << paused;
    }
}

TEST(MemoryPause, WritesWaitForPausesToo) {
    const auto longest_wait = [](bool paused) {
        auto machine = pausing();
        if (!paused) machine.memory.pause_interval = {}, machine.memory.pause_time = {};
        Dram dram(machine);
        for (std::uint64_t i = 0; i < 64; ++i)
            (void)dram.read(i * 1024, 1024, 9'990);  // writes cost nothing while a channel is idle
        double longest = 0;
        for (std::uint64_t i = 0; i < 64; ++i) longest = std::max(longest, dram.write(i * 128, 128, 10'050));
        return longest;
    };
    const double plain = longest_wait(false);
    EXPECT_GT(plain, 1000);
    // One pause comes, and the queue is served 4% faster between pauses.
    EXPECT_NEAR(longest_wait(true), plain + 200 - 0.04 * plain, 30);
}

TEST(MemoryPause, LoadsOfAnIdleMemoryAreDelayedOnlyByPauses) {
    auto machine = test::bare_machine();
    machine.memory.pause_interval.set(5000);
    machine.memory.pause_time.set(200);
    test::PlainAddresses addresses;
    const auto memory = make_memory_system(machine, addresses, {});
    for (int i = 0; i < 100; ++i) {
        const double now = 1037.0 * i, into = std::fmod(now, 5000);
        const double expected = 400 + (now >= 5000 && into < 200 ? 200 - into : 0);
        EXPECT_NEAR(memory->access({.address = static_cast<std::uint64_t>(i) << 16, .bytes = 32}, now) - now, expected,
                    0.01)
            << now;
    }
}

TEST(MemoryPause, RefusesAnIncompleteDescription) {
    const auto message_of = [](const machine::Machine& machine) -> std::string {
        try {
            const Dram dram(machine);
        } catch (const InputError& error) {
            return error.what();
        }
        return "";
    };
    auto machine = pausing();
    machine.memory.pause_time = {};
    EXPECT_NE(message_of(machine).find("memory.pause_time"), std::string::npos);
    machine = pausing();
    machine.memory.pause_interval = {};
    EXPECT_NE(message_of(machine).find("memory.pause_interval"), std::string::npos);
    machine = pausing();
    machine.memory.pause_time.set(2500);
    EXPECT_NE(message_of(machine).find("less than memory.pause_interval"), std::string::npos);
    machine.memory.pause_time.knowledge = machine.memory.pause_interval.knowledge = machine::Knowledge::absent;
    EXPECT_EQ(message_of(machine), "");
}

TEST(LinesOfMemory, HaveLatenciesSpreadAroundTheMean) {
    auto machine = test::bare_machine();
    machine.paths.at("global").memory_latency_line_range.set({390, 410});
    for (const int channels : {1, 4}) {
        machine.memory.channels.set(channels);
        test::PlainAddresses addresses;
        const auto memory = make_memory_system(machine, addresses, {});
        double sum = 0, low = 1e9, high = 0;
        constexpr int kLines = 4096;
        for (int i = 0; i < kLines; ++i) {
            const double now = 2000.0 * i,
                         latency =
                             memory->access({.address = static_cast<std::uint64_t>(i) * 256, .bytes = 32}, now) - now;
            const double again =
                memory->access({.address = static_cast<std::uint64_t>(i) * 256, .bytes = 32}, now + 1000) - now - 1000;
            EXPECT_NEAR(latency, again, 1e-6) << "a line stays where it is";
            sum += latency, low = std::min(low, latency), high = std::max(high, latency);
        }
        EXPECT_NEAR(sum / kLines, 400, 0.5) << channels;
        EXPECT_NEAR(low, 390, 1e-6);
        EXPECT_NEAR(high, 410, 1e-6);
    }
}

TEST(LinesOfMemory, RefuseARangeThatIsNotAroundTheMean) {
    for (const auto& range : {std::vector<std::int64_t>{390, 420}, {401, 405}, {390}, {-1, 801}}) {
        auto machine = test::bare_machine();
        machine.paths.at("global").memory_latency_line_range.set(range);
        test::PlainAddresses addresses;
        EXPECT_THROW((void)make_memory_system(machine, addresses, {}), InputError);
    }
}

TEST(LinesOfMemory, RefuseMeasuredLatenciesThatContradictTheMean) {
    const auto refused = [](auto change) {
        auto machine = test::bare_machine();
        change(machine.paths.at("global"), *machine.paths.at("global").memory_latency);
        test::PlainAddresses addresses;
        try {
            (void)make_memory_system(machine, addresses, {});
        } catch (const InputError&) {
            return true;
        }
        return false;
    };
    for (const std::int64_t more : {-1, 1}) {
        EXPECT_EQ(refused([&](auto& path, auto mean) { path.memory_latency_unrefreshed.set(mean + more); }), more > 0);
        EXPECT_EQ(refused([&](auto& path, auto mean) { path.memory_latency_partition_range.set(2 * mean + more); }),
                  more > 0);
    }
    EXPECT_TRUE(refused([](auto& path, auto) { path.memory_latency_unrefreshed.set(-1); }));
    EXPECT_TRUE(refused([](auto& path, auto) { path.memory_latency_partition_range.set(-1); }));
}

}  // namespace
}  // namespace gputomo::sim
