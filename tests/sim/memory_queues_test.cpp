// Memory under load: described bandwidths, MSHRs and pending request tables that fill up, determinism.
#include "memory_fixture.hpp"
#include "sim/memory/outstanding.hpp"
#include "sim/memory/server.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <queue>
#include <random>
#include <tuple>
#include <vector>

namespace gputomo::sim::test {
namespace {

/// `sms` SMs with `warps` warps each. Every warp issues its next transaction when the one before is done, and all
/// transactions are issued in order of time.
struct Stream {
    std::uint32_t sms = 6;
    std::uint32_t warps = 128;
    std::uint64_t transactions = 400'000;
    std::uint32_t bytes = 128;
    /// The transaction of each running number: its address, and whether it loads or stores.
    std::function<Transaction(std::uint64_t)> next;
};

/// Bytes per cycle over the middle of the run, without the start, when queues fill, and the end, when they drain.
double rate(MemorySystem& memory, const Stream& stream) {
    using Event = std::pair<double, std::uint32_t>;
    std::priority_queue<Event, std::vector<Event>, std::greater<>> ready;
    for (std::uint32_t warp = 0; warp < stream.sms * stream.warps; ++warp) ready.emplace(0.0, warp);
    double begin = 0, now = 0;
    const std::uint64_t skipped = stream.transactions / 10;
    for (std::uint64_t i = 0; i < stream.transactions; ++i) {
        const auto [time, warp] = ready.top();
        ready.pop();
        now = time;
        if (i == skipped) begin = now;
        Transaction t = stream.next(i);
        t.bytes = stream.bytes;
        t.sm = warp % stream.sms;
        const double done = memory.access(t, now);
        // A store does not delay its warp; at most one instruction issues in 4 cycles.
        ready.emplace(std::max(now + 4, done), warp);
    }
    return static_cast<double>((stream.transactions - skipped) * stream.bytes) / (now - begin);
}

Transaction sequential(std::uint64_t i) { return {.address = i * 128}; }
/// Reads one array and writes another, with alternating transactions.
Transaction copying(std::uint64_t i) {
    return {.address = (i / 2) * 128 + (i % 2) * (std::uint64_t{1} << 34),
            .kind = i % 2 == 0 ? AccessKind::load : AccessKind::store};
}

TEST(Bandwidth, StreamingReadsReachTheDescribedBandwidth) {
    for (const std::int64_t channels : {1, 6, 8, 80}) {
        auto m = bare_machine();
        m.memory.channels.set(channels);
        Rig rig(m);
        EXPECT_NEAR(rate(*rig.memory, {.next = sequential}), 100, 1) << channels << " channels";
    }
}

TEST(Bandwidth, FollowsFromGigabytesPerSecondAndClock) {
    auto m = bare_machine();
    m.clock.sm_mhz.set(1296);
    m.memory.read_bandwidth.set(138);
    m.memory.peak_bandwidth.set(141.7);
    Rig rig(m);
    EXPECT_NEAR(rate(*rig.memory, {.next = sequential}), 138e3 / 1296, 1);
}

TEST(Bandwidth, WithoutAMeasuredRateChannelsOrPinsDecide) {
    auto m = bare_machine();
    m.memory.read_bandwidth = {};
    m.memory.peak_bandwidth.set(120);
    {
        Rig rig(m);
        EXPECT_NEAR(rate(*rig.memory, {.next = sequential}), 120, 1.2);
    }
    m.memory.channel_bytes_per_cycle.set(20);
    Rig rig(m);
    EXPECT_NEAR(rate(*rig.memory, {.next = sequential}), 80, 0.8);
}

TEST(Bandwidth, CopiesReachTheDescribedBandwidth) {
    for (const double copy : {60.0, 85.0, 100.0, 110.0}) {
        for (const std::int64_t channels : {1, 8}) {
            auto m = bare_machine();
            m.memory.channels.set(channels);
            m.memory.copy_bandwidth.set(copy);
            Rig rig(m);
            EXPECT_NEAR(rate(*rig.memory, {.next = copying}), copy, copy / 100) << channels << " channels";
            Rig reads(m);
            EXPECT_NEAR(rate(*reads.memory, {.next = sequential}), 100, 1) << "reads alone do not turn the bus around";
        }
    }
}

TEST(Bandwidth, CopiesThroughAWriteBackCacheReachTheDescribedBandwidth) {
    auto m = machine_with({{"l2", make_cache({.scope = "gpu", .sector = 32, .ways = 16, .sets = 64, .latency = 200})}});
    m.memory.copy_bandwidth.set(80);
    Rig rig(m);
    EXPECT_NEAR(rate(*rig.memory, {.next = copying}), 80, 0.8);
    auto counters = rig.counters();
    EXPECT_NEAR(static_cast<double>(counters.dram_bytes), 400'000 * 128.0, 16 * 64 * 128.0);
}

TEST(Bandwidth, StoresAloneReachTheBandwidthOfReads) {
    auto m = bare_machine();
    m.memory.copy_bandwidth.set(80);
    Rig rig(m);
    EXPECT_NEAR(
        rate(*rig.memory,
             {.next = [](std::uint64_t i) { return Transaction{.address = i * 128, .kind = AccessKind::store}; }}),
        100, 1);
}

TEST(Bandwidth, OneSmReachesTheRateOfItsPort) {
    auto m = bare_machine();
    m.memory.interconnect_bytes_per_cycle.set(8);
    Rig rig(m);
    EXPECT_NEAR(rate(*rig.memory, {.sms = 1, .transactions = 50'000, .next = sequential}), 8, 0.08);
    Rig all(m);
    EXPECT_NEAR(rate(*all.memory, {.transactions = 100'000, .next = sequential}), 48, 0.48);
    Rig stores(m);
    EXPECT_NEAR(
        rate(*stores.memory,
             {.sms = 1,
              .transactions = 50'000,
              .next = [](std::uint64_t i) { return Transaction{.address = i * 128, .kind = AccessKind::store}; }}),
        8, 0.08);
}

TEST(Bandwidth, HitsReachTheRateOfTheCache) {
    auto l1 = make_cache({.ways = 4, .sets = 4});
    l1.bytes_per_cycle.set(24);
    auto l2 = make_cache({.scope = "gpu", .ways = 8, .sets = 16, .latency = 200});
    l2.bytes_per_cycle.set(50);
    Rig near_hits(machine_with({{"l1", l1}, {"l2", l2}}));
    EXPECT_NEAR(rate(*near_hits.memory, {.transactions = 100'000,
                                         .next = [](std::uint64_t i) { return Transaction{.address = i % 16 * 128}; }}),
                6 * 24, 1.44);
    Rig far_hits(machine_with({{"l1", l1}, {"l2", l2}}));
    EXPECT_NEAR(
        rate(
            *far_hits.memory,
            {.transactions = 100'000,
             .next = [](std::uint64_t i) { return Transaction{.address = i % 64 * 128, .hint = CacheHint::l2_only}; }}),
        50, 0.5);
}

TEST(Bandwidth, StoresAndReadsOfDramShareTheWayThroughTheL2ButHitsDoNot) {
    auto l2 = make_cache({.scope = "gpu", .ways = 8, .sets = 16, .latency = 200});
    l2.write_policy.set("write-back");
    l2.allocation.set("load-store");
    l2.fabric_bytes_per_cycle.set(40);
    const auto rate_of = [&](const std::function<Transaction(std::uint64_t)>& next) {
        Rig rig(machine_with({{"l2", l2}}));
        return rate(*rig.memory, {.transactions = 100'000, .next = next});
    };
    const auto reads = [](std::uint64_t i) { return Transaction{.address = i * 128}; };
    const auto stores = [](std::uint64_t i) { return Transaction{.address = i % 32 * 128, .kind = AccessKind::store}; };
    const auto hits = [](std::uint64_t i) { return Transaction{.address = i % 64 * 128}; };
    EXPECT_NEAR(rate_of(reads), 40, 0.8);
    EXPECT_NEAR(rate_of(stores), 40, 0.8);
    EXPECT_NEAR(rate_of([&](std::uint64_t i) { return i % 2 == 0 ? reads(i + (1 << 20)) : stores(i); }), 40, 0.8);
    EXPECT_GT(rate_of(hits), 80);
}

TEST(Bandwidth, StoresComeBeforeDataThatDramIsStillReading) {
    auto l2 = make_cache({.scope = "gpu", .ways = 8, .sets = 64, .latency = 200});
    l2.write_policy.set("write-back");
    l2.allocation.set("load-store");
    l2.fabric_bytes_per_cycle.set(4);
    Rig rig(machine_with({{"l2", l2}}));
    Time last = 0;
    for (std::uint64_t i = 0; i < 20; ++i)
        last = std::max(last, rig.memory->access({.address = i * 128, .bytes = 128}, 0));
    EXPECT_NEAR(last, 400 + 19 * 32, 20) << "data pass one after the other from 400 cycles on";
    const auto store = [&](Time now) {
        return rig.memory->access({.address = 1 << 20, .bytes = 128, .kind = AccessKind::store}, now) - now;
    };
    EXPECT_EQ(store(0), 0) << "nothing is on its way through the L2 yet";
    EXPECT_GT(store(420), 400) << "the data of the loads are";
}

TEST(Bandwidth, DramIsAskedWhenTheAddressHasBeenTranslated) {
    auto machine = bare_machine();
    machine.tlbs["t"] = make_tlb({.penalty = 1000});
    machine.paths["global"].tlbs.set({"t"});
    machine.memory.channels.set(1);
    machine.memory.read_bandwidth.set(1);
    Rig rig(machine);
    (void)rig.load(0);  // the first page has been translated
    const Time now = rig.now + 100'000;
    for (std::uint64_t i = 0; i < 4; ++i) (void)rig.memory->access({.address = 4096 + i * 128, .bytes = 128}, now);
    EXPECT_NEAR(rig.memory->access({.address = 256, .bytes = 128}, now) - now, 400, 16)
        << "DRAM has nothing to do until the other page has been translated";
    EXPECT_GT(rig.memory->access({.address = 512, .bytes = 128}, now + 1000) - now, 1400 + 4 * 128 - 16);
}

/// Loads a sector of a line, then another one of it, and says how long the second one takes.
double second_sector(std::uint32_t prefetched, std::uint64_t distance) {
    Rig rig(machine_with({{"l2", make_cache({.scope = "gpu", .line = 128, .sector = 32, .latency = 200})}}));
    (void)rig.latency({.address = 256, .bytes = 32, .prefetched = prefetched});
    const auto read = rig.counters().dram_bytes;
    EXPECT_EQ(read, std::max<std::uint64_t>(32, std::min<std::uint64_t>(prefetched, 128)));
    return rig.load(256 + distance);
}

TEST(PrefetchedBlock, IsReadFromMemoryAtAMiss) {
    EXPECT_EQ(second_sector(0, 96), 400);
    EXPECT_EQ(second_sector(64, 32), 200);
    EXPECT_EQ(second_sector(64, 96), 400) << "the other half of the line";
    EXPECT_EQ(second_sector(128, 96), 200);
    EXPECT_EQ(second_sector(256, 96), 200) << "no more than the line";
}

/// Loads of the second half of each line, and stores to its first half right behind them.
Time updates_end(const std::string& behaviour, bool in_place) {
    auto l2 = make_cache({.scope = "gpu", .line = 128, .sector = 64, .ways = 8, .sets = 16, .latency = 200});
    l2.write_policy.set("write-back");
    l2.allocation.set("load-store");
    if (!behaviour.empty()) l2.filling_store.set(behaviour);
    auto machine = machine_with({{"l2", l2}});
    machine::Access& atomics = machine.accesses["l2_atomic"];
    atomics.units.set(1);
    atomics.unit_bytes.set(512);
    for (auto* cost : {&atomics.same_address_cycles, &atomics.part_cycles, &atomics.sector_cycles}) cost->set(1);
    Rig rig(machine);
    Time end = 0;
    for (std::uint64_t i = 0; i < 10; ++i) {
        const std::uint64_t line = i * 128;
        end = std::max(end, rig.memory->access({.address = line + 64, .bytes = 64}, 0));
        (void)rig.memory->access(
            {.address = in_place ? line : line + (1 << 20), .bytes = 64, .kind = AccessKind::store}, 0);
    }
    return end;
}

TEST(FillingLines, StoresBlockTheirPartOfTheCacheUntilTheLineIsThere) {
    const Time elsewhere = updates_end("blocks", false);
    EXPECT_NEAR(updates_end("merges", true), elsewhere, 10);
    EXPECT_NEAR(updates_end("", true), elsewhere, 10) << "nothing is known of it";
    EXPECT_GT(updates_end("blocks", true), 5 * elsewhere) << "each of ten lines waits for the one before it";
}

TEST(FillingLines, OtherBehaviourIsRefused) { EXPECT_THROW((void)updates_end("waits", true), InputError); }

TEST(Bandwidth, PartOfASectorTakesAsLongAsTheWholeOne) {
    auto l2 = make_cache({.scope = "gpu", .ways = 8, .sets = 16, .latency = 200});
    l2.sector.set(64);
    l2.bytes_per_cycle.set(50);
    const auto rate_of = [&](std::uint32_t bytes, std::uint64_t apart) {
        Rig rig(machine_with({{"l2", l2}}));
        return rate(*rig.memory, {.transactions = 100'000, .bytes = bytes, .next = [&](std::uint64_t i) {
                                      return Transaction{.address = i % 64 * apart};
                                  }});
    };
    EXPECT_NEAR(rate_of(64, 64), 50, 0.5);
    EXPECT_NEAR(rate_of(32, 64), 25, 0.5) << "each access takes half of a sector";
    EXPECT_NEAR(rate_of(32, 32), 25, 0.5) << "the halves are asked for by different accesses";
}

TEST(Bandwidth, StridesOfPowersOfTwoUseAllChannels) {
    for (const int shift : {8, 10, 12, 16, 20, 24}) {
        auto m = bare_machine();
        m.memory.channels.set(8);
        Rig rig(m);
        EXPECT_GT(
            rate(*rig.memory, {.transactions = 100'000,
                               .next = [=](std::uint64_t i) { return Transaction{.address = (i % 4096) << shift}; }}),
            85)
            << "stride 2^" << shift;
    }
}

TEST(Latency, GrowsByQueueingOnly) {
    // Little's law: with few transactions in flight the latency is the unloaded one, with more it is their number
    // divided by the rate.
    for (const std::uint32_t warps : {4U, 16U, 64U}) {
        Rig rig(bare_machine());
        const double under_way = 6 * warps;
        const double expected = std::min(100.0, under_way * 128 / 400);
        EXPECT_NEAR(rate(*rig.memory, {.warps = warps, .transactions = 100'000, .next = sequential}), expected,
                    expected / 20)
            << warps;
    }
}

// ---- outstanding misses --------------------------------------------------------------------------------------------

machine::Machine with_mshrs(std::int64_t entries, std::int64_t merge) {
    auto l1 = make_cache({.ways = 64, .sets = 64});
    l1.outstanding_design.set("mshr");
    l1.outstanding_entries.set(entries);
    l1.outstanding_merge.set(merge);
    auto m = machine_with({{"l1", l1}});
    m.memory.read_bandwidth.set(100'000);  // so that nothing else delays a load
    return m;
}

TEST(Mshr, TheFirstMissBeyondItsEntriesWaits) {
    Rig rig(with_mshrs(128, 8));  // Lashgar 2015: Fermi
    for (std::uint64_t i = 0; i < 128; ++i)
        EXPECT_NEAR(rig.memory->access({.address = i * 128, .bytes = 4}, 0), 400, 0.5) << i;
    EXPECT_NEAR(rig.memory->access({.address = 128 * 128, .bytes = 4}, 0), 800, 1);
    EXPECT_NEAR(rig.memory->access({.address = 500 * 128, .bytes = 4, .sm = 1}, 0), 400, 0.5) << "each SM has its own";
}

TEST(Mshr, FreesAnEntryWhenItsDataCome) {
    Rig rig(with_mshrs(2, 8));
    EXPECT_EQ(rig.memory->access({.address = 0, .bytes = 4}, 0), 400);
    EXPECT_NEAR(rig.memory->access({.address = 128, .bytes = 4}, 100), 500, 0.1);
    EXPECT_NEAR(rig.memory->access({.address = 256, .bytes = 4}, 200), 800, 0.1)
        << "waits for the first, not the second";
    EXPECT_NEAR(rig.memory->access({.address = 384, .bytes = 4}, 450), 900, 0.1) << "the second came at 500";
    EXPECT_EQ(rig.memory->access({.address = 512, .bytes = 4}, 2000), 2400);
}

TEST(Mshr, MergesRequestsForALineUpToItsLimit) {
    Rig rig(with_mshrs(4, 3));
    EXPECT_EQ(rig.memory->access({.address = 0, .bytes = 4}, 0), 400);
    EXPECT_EQ(rig.memory->access({.address = 4, .bytes = 4}, 10), 400);
    EXPECT_EQ(rig.memory->access({.address = 8, .bytes = 4}, 20), 400);
    EXPECT_EQ(rig.memory->access({.address = 12, .bytes = 4}, 30), 430) << "no fourth: it hits when the data are there";
    for (std::uint64_t i = 1; i < 4; ++i)
        EXPECT_NEAR(rig.memory->access({.address = i * 128, .bytes = 4}, 40), 440, 0.5) << "merging took no entries";
    EXPECT_NEAR(rig.memory->access({.address = 4 * 128, .bytes = 4}, 40), 800, 0.5);
    const auto counters = rig.counters();
    EXPECT_EQ(counters.dram_bytes, 5 * 128U) << "a merged request fetches nothing";
}

TEST(Mshr, DoesNotDelayHits) {
    Rig rig(with_mshrs(1, 1));
    rig.load(0);
    const double now = rig.now + 1000;
    EXPECT_NEAR(rig.memory->access({.address = 128, .bytes = 4}, now), now + 400, 0.1);
    EXPECT_EQ(rig.memory->access({.address = 0, .bytes = 4}, now), now + 30);
}

TEST(PendingRequestTable, HasOneEntryForAllTransactionsOfAnInstruction) {
    auto m = with_mshrs(44, 1);  // Lashgar 2015: Kepler
    m.caches["l1"].outstanding_design.set("prt");
    m.caches["l1"].outstanding_merge = {};
    Rig rig(m);
    std::uint64_t line = 0;
    for (std::uint64_t request = 1; request <= 44; ++request)
        for (int i = 0; i < 32; ++i)
            EXPECT_LT(rig.memory->access({.address = line++ * 128, .bytes = 4, .request = request}, 0), 410);
    EXPECT_NEAR(rig.memory->access({.address = line++ * 128, .bytes = 4, .request = 45}, 0), 800, 10);
    EXPECT_NEAR(rig.memory->access({.address = line++ * 128, .bytes = 4, .request = 45}, 0), 800, 410)
        << "shares the entry of 45";
}

TEST(PendingRequestTable, CountsTransactionsWithoutANumberAsInstructions) {
    auto m = with_mshrs(2, 1);
    m.caches["l1"].outstanding_design.set("prt");
    Rig rig(m);
    EXPECT_NEAR(rig.memory->access({.address = 0, .bytes = 4}, 0), 400, 1);
    EXPECT_NEAR(rig.memory->access({.address = 4, .bytes = 4}, 0), 400, 1)
        << "the same line is another instruction's request";
    EXPECT_NEAR(rig.memory->access({.address = 128, .bytes = 4}, 0), 800, 1);
}

TEST(OutstandingTable, WaitsForTheEarliestRelease) {
    OutstandingTable table({.entries = 3, .merge_limit = 1});
    for (const auto& [key, release] : std::vector<std::pair<std::uint64_t, double>>{{1, 70}, {2, 50}, {3, 60}}) {
        const auto slot = table.join(key, 0);
        EXPECT_EQ(slot.start, 0);
        table.release_at(slot.index, release);
    }
    for (const auto& [key, start] : std::vector<std::pair<std::uint64_t, double>>{{4, 50}, {5, 60}, {6, 70}}) {
        const auto slot = table.join(key, 10);
        EXPECT_EQ(slot.start, start);
        table.release_at(slot.index, start + 100);
    }
    EXPECT_EQ(table.join(7, 155).start, 155);
}

// ---- servers -------------------------------------------------------------------------------------------------------

TEST(Server, StartsSingleRequestsAtOnce) {
    Server server(64);
    double now = 3;
    for (int i = 0; i < 1000; ++i, now += 5) EXPECT_EQ(server.reserve(now, 5), now);
}

TEST(Server, QueuesRequestsThatArriveTogether) {
    Server server(64);
    for (int i = 0; i < 40; ++i) EXPECT_DOUBLE_EQ(server.reserve(0, 6), i * 6);
    EXPECT_DOUBLE_EQ(server.busy_until(), 240);
}

TEST(Server, DoesNotDelayAnEarlierArrivalThatBooksLater) {
    Server server(256);
    EXPECT_EQ(server.reserve(1000, 10), 1000);
    EXPECT_EQ(server.reserve(100, 10), 100);
}

TEST(Server, NeverExceedsItsRateInAnyOrderOfArrivals) {
    std::mt19937 random(1);
    Server server(1024);
    double end = 0, work = 0;
    for (int i = 0; i < 20'000; ++i) {
        const double now = i + static_cast<double>(random() % 400);
        const double service = 0.5 + static_cast<double>(random() % 4);
        const double start = server.reserve(now, service);
        EXPECT_GE(start, now);
        work += service;
        end = std::max(end, server.busy_until());
    }
    EXPECT_GE(end, work);
    EXPECT_LE(end, work + 500) << "and it is never idle while there is work";
}

TEST(Server, KeepsItsRateWhenTheQueueOutgrowsTheCalendar) {
    Server server(4);
    for (int i = 0; i < 10'000; ++i) EXPECT_NEAR(server.reserve(0, 2), i * 2, 1e-6);
}

TEST(MemorySystem, GivesTheSameTimesForTheSameSeed) {
    auto l1 = make_cache({.ways = 4, .sets = 4, .policy = "random"});
    auto l2 = make_cache({.scope = "gpu", .ways = 8, .sets = 16, .policy = "brrip", .latency = 200});
    const auto m = machine_with({{"l1", l1}, {"l2", l2}});
    const auto times = [&](std::uint64_t seed) {
        MemoryOptions options;
        options.seed = seed;
        Rig rig(m, options);
        std::mt19937_64 random(5);
        std::vector<double> done;
        for (int i = 0; i < 20'000; ++i)
            done.push_back(rig.memory->access({.address = random() % 512 * 128,
                                               .bytes = 128,
                                               .sm = static_cast<std::uint32_t>(random() % 6),
                                               .kind = random() % 4 == 0 ? AccessKind::store : AccessKind::load},
                                              i));
        return done;
    };
    EXPECT_EQ(times(1), times(1));
    EXPECT_NE(times(1), times(2));
}

}  // namespace
}  // namespace gputomo::sim::test
