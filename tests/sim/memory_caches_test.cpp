// Caches, TLBs and paths: what hits, and the exact latency of an access while nothing else is in flight.
#include "memory_fixture.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>

namespace gputomo::sim::test {
namespace {

using testing::HasSubstr;

/// L1 of 4 ways x 2 sets x 128 bytes at 30 cycles, L2 of 8 x 16 x 128 at 200.
machine::Machine two_levels() {
    return machine_with(
        {{"l1", make_cache({})}, {"l2", make_cache({.scope = "gpu", .ways = 8, .sets = 16, .latency = 200})}});
}

TEST(MemoryLatency, IsThatOfTheLevelThatHits) {
    Rig rig(two_levels());
    EXPECT_EQ(rig.load(0), 400);
    EXPECT_EQ(rig.load(0), 30);
    EXPECT_EQ(rig.load(124), 30);
    EXPECT_EQ(rig.load(128), 400);
    EXPECT_EQ(rig.load(0, 1), 200);  // another SM: its own L1, the same L2
    EXPECT_EQ(rig.load(0, 1), 30);
}

TEST(Cache, WithFewerDataLinesThanTagsLosesTheOldestData) {
    auto l1 = make_cache({});  // tags for 8 lines
    l1.capacity.set(6 * 128);
    Rig rig(machine_with({{"l1", l1}, {"l2", make_cache({.scope = "gpu", .ways = 8, .sets = 16, .latency = 200})}}));
    const auto all_hit = [&](std::uint64_t lines) {
        bool hit = true;
        for (int pass = 0; pass < 3; ++pass) {
            hit = true;
            for (std::uint64_t i = 0; i < lines; ++i) hit = rig.load(i * 128) == 30 && hit;
        }
        return hit;
    };
    EXPECT_TRUE(all_hit(6));
    EXPECT_FALSE(all_hit(7));
    EXPECT_FALSE(all_hit(8)) << "although each has a tag";
    // One set of four lines has all its data. A fifth line replaces the least recently used one and no other.
    for (std::uint64_t i = 0; i < 5; ++i) rig.load(i * 256);
    EXPECT_EQ(rig.load(4 * 256), 30);
    EXPECT_EQ(rig.load(1 * 256), 30);
    EXPECT_EQ(rig.load(0), 200);
}

TEST(MemoryLatency, IsExactOnEveryStepOfADependentChain) {
    auto m = two_levels();
    m.memory.copy_bandwidth.set(80);
    m.memory.interconnect_bytes_per_cycle.set(7);
    for (auto& [key, cache] : m.caches) cache.bytes_per_cycle.set(11);
    Rig rig(m);
    double now = 0;
    for (std::uint64_t i = 0; i < 3000; ++i) {  // back to back, without idle time
        const double done = rig.memory->access({.address = i * 128, .bytes = 4}, now);
        ASSERT_EQ(done - now, 400) << i;
        now = done;
        const double again = rig.memory->access({.address = i * 128, .bytes = 4}, now);
        ASSERT_EQ(again - now, 30) << i;
        now = again;
    }
}

TEST(MemoryLatency, IsThatOfMemoryWithoutCaches) {
    Rig rig(bare_machine());
    for (int i = 0; i < 3; ++i) EXPECT_EQ(rig.load(0), 400);
    EXPECT_EQ(rig.counters().dram_bytes, 12U);
}

TEST(MemoryLatency, VariesBetweenTpcsAroundTheDescribedMean) {
    auto m = bare_machine();
    m.topology.sms.set(30);
    m.paths["global"].memory_latency.set(440);
    m.paths["global"].memory_latency_range.set({436, 443});  // Wong 2010, IV-G
    Rig rig(m);
    double sum = 0, low = 1e9, high = 0;
    for (std::uint32_t sm = 0; sm < 30; ++sm) {
        const double latency = rig.load(0, sm);
        EXPECT_EQ(latency, rig.load(0, sm / 3 * 3)) << "the same within a TPC";
        EXPECT_EQ(latency, std::round(latency));
        sum += latency, low = std::min(low, latency), high = std::max(high, latency);
    }
    EXPECT_EQ(low, 436);
    EXPECT_EQ(high, 443);
    EXPECT_EQ(std::llround(sum / 30), 440);
}

TEST(MemoryLatency, IsLongerInTheFarPartition) {
    auto m = two_levels();
    m.caches["l2"].partitions.set(2);
    m.caches["l2"].far_latency.set(240);
    Rig rig(m);
    int near_hits = 0, far_hits = 0;
    for (std::uint64_t page = 0; page < 64; ++page) {
        rig.load(page << 12, 1);
        const double latency = rig.load(page << 12, 0);
        (latency == 160 ? near_hits : far_hits) += 1;
        EXPECT_TRUE(latency == 160 || latency == 240) << latency << "; the mean is 200";
        EXPECT_EQ(rig.load(page << 12, 5), latency == 160 ? 240 : 160) << "SM 5 sits at the other partition";
    }
    EXPECT_EQ(near_hits, 32);
    EXPECT_EQ(far_hits, 32);
}

/// 6 SMs on two partitions of a cache, whose lines are 80 cycles apart in memory, 30 of them until DRAM is asked.
machine::Machine with_far_memory() {
    auto m = machine_with({{"l2", make_cache({.scope = "gpu", .ways = 64, .sets = 64, .latency = 200})}});
    m.caches["l2"].partitions.set(2);
    m.paths["global"].memory_far_extra.set(80);
    m.paths["global"].memory_far_request.set(30);
    return m;
}

TEST(FarMemory, IsBehindTheOtherPartition) {
    Rig rig(with_far_memory());
    int far = 0;
    for (std::uint64_t page = 0; page < 64; ++page) {
        const double first = rig.load(page << 12, 0), other = rig.load((page << 12) + 128, 5);
        EXPECT_TRUE(first == 360 || first == 440) << first << "; the mean is 400";
        EXPECT_EQ(first + other, 800) << "SM 5 sits at the other partition";
        far += first == 440 ? 1 : 0;
    }
    EXPECT_EQ(far, 32);
}

TEST(FarMemory, IsNearerWhereAnSmOfTheOtherPartitionAsksToo) {
    Rig rig(with_far_memory());
    for (std::uint64_t page = 0; page < 16; ++page) {
        const bool far_from_first = rig.load(page << 12, 0) == 440;
        const std::uint32_t near = far_from_first ? 5 : 0, far = far_from_first ? 0 : 5;
        const auto both = [&](std::uint64_t line, std::uint32_t first, std::uint32_t second, double later) {
            rig.now += 100'000;
            const auto done = [&](std::uint32_t sm, double at) {
                return rig.memory->access({.address = (page << 12) + line * 128, .bytes = 4, .sm = sm}, at) - rig.now;
            };
            const double before = done(first, rig.now);
            return std::pair(before, done(second, rig.now + later));
        };
        // The near SM asks DRAM, and the answer takes 50 of the 80 cycles to the other side.
        EXPECT_EQ(both(1, near, far, 0), std::pair(360.0, 410.0));
        EXPECT_EQ(both(2, near, far, 100), std::pair(360.0, 410.0));
        // DRAM is asked 30 cycles after the far SM has, or earlier where the near SM asks before that.
        EXPECT_EQ(both(3, far, near, 100), std::pair(440.0, 390.0));
        EXPECT_EQ(both(4, far, near, 10), std::pair(440.0, 370.0));
    }
}

TEST(CacheSharing, FollowsTheScope) {
    // After a first access by SM 0: which SMs hit? 6 SMs, TPCs of 3, CPCs of 2, GPCs of 4.
    for (const auto& [scope, hitting_sms] :
         std::map<std::string, int>{{"sm", 1}, {"tpc", 3}, {"cpc", 2}, {"gpc", 4}, {"gpu", 6}}) {
        auto m = machine_with({{"c", make_cache({.scope = scope})}});
        m.topology.sms_per_cpc.set(2);
        m.topology.sms_per_gpc.set(4);
        int hits = 0;
        for (std::uint32_t sm = 0; sm < 6; ++sm) {
            Rig rig(m);
            rig.load(0, 0);
            hits += rig.load(0, sm) == 30;
        }
        EXPECT_EQ(hits, hitting_sms) << scope;
    }
}

TEST(CacheSharing, SchedulersOfAnSmCanHaveCachesOfTheirOwn) {
    auto m = machine_with({{"c", make_cache({.scope = "scheduler"})}});
    m.issue.schedulers_per_sm.set(2);
    Rig rig(m);
    EXPECT_EQ(rig.latency({.address = 0, .bytes = 4, .scheduler = 0}), 400);
    EXPECT_EQ(rig.latency({.address = 0, .bytes = 4, .scheduler = 1}), 400);
    EXPECT_EQ(rig.latency({.address = 0, .bytes = 4, .scheduler = 0}), 30);
}

TEST(CacheIndex, IsTheLineModuloAnyNumberOfSets) {
    Rig rig(machine_with({{"c", make_cache({.ways = 1, .sets = 5})}}));
    for (std::uint64_t line = 0; line < 5; ++line) EXPECT_EQ(rig.load(line * 128), 400);
    for (std::uint64_t line = 0; line < 5; ++line) EXPECT_EQ(rig.load(line * 128), 30);
    EXPECT_EQ(rig.load(5 * 128), 400);  // evicts line 0 only
    EXPECT_EQ(rig.load(1 * 128), 30);
    EXPECT_EQ(rig.load(0 * 128), 400);
}

TEST(CacheIndex, ByBitsIgnoresAllOtherBits) {
    // Mei 2014: sets of Fermi's texture L1 by address bits 7 and 8, line of 32 bytes.
    auto cache = make_cache({.line = 32, .sector = 32, .ways = 1, .sets = 4});
    cache.index.set("bits");
    cache.index_bits.set({7, 8});
    Rig rig(machine_with({{"c", cache}}));
    rig.load(0);
    rig.load(32);  // the same set: bits 5 and 6 do not choose the set
    EXPECT_EQ(rig.load(0), 400);
    rig.load(128);
    rig.load(256);
    rig.load(384);
    EXPECT_EQ(rig.load(0), 30);
    rig.load(512);
    EXPECT_EQ(rig.load(0), 400);
}

TEST(CacheIndex, ByHashIsTheParityUnderEachMask) {
    auto cache = make_cache({.ways = 1, .sets = 4});
    cache.index.set("hash");
    cache.index_hash.set({0x80 | 0x200, 0x100 | 0x400});
    Rig rig(machine_with({{"c", cache}}));
    rig.load(0);
    rig.load(0x80);   // set 1
    rig.load(0x100);  // set 2
    EXPECT_EQ(rig.load(0), 30);
    rig.load(0x280);  // bits 7 and 9 cancel: set 0
    EXPECT_EQ(rig.load(0x80), 30);
    EXPECT_EQ(rig.load(0), 400);
    rig.load(0x200);  // set 1
    EXPECT_EQ(rig.load(0x80), 400);
    EXPECT_EQ(rig.load(0x100), 30);
}

TEST(CacheIndex, IsVirtualInNearCachesAndPhysicalInTheL2) {
    // 2 direct-mapped sets; the images of one line lie in different virtual sets and in one physical one.
    auto m = machine_with(
        {{"l1", make_cache({.ways = 1})}, {"l2", make_cache({.scope = "gpu", .ways = 1, .latency = 200})}});
    Rig rig(m);
    rig.addresses.alias_base = 0x10000;
    rig.addresses.alias_bytes = 128;
    EXPECT_EQ(rig.load(0x10000), 400);
    EXPECT_EQ(rig.load(0x10080), 200) << "another virtual line, the same physical one";
    EXPECT_EQ(rig.load(0x10000), 30) << "the images don't share a set of the L1";
    EXPECT_EQ(rig.load(0x10080), 30);
}

TEST(CacheSectors, AreFilledOneByOneAndEvictedTogether) {
    Rig rig(machine_with({{"c", make_cache({.sector = 32, .ways = 1, .sets = 1})}}));
    EXPECT_EQ(rig.load(0), 400);
    EXPECT_EQ(rig.load(28), 30);
    EXPECT_EQ(rig.load(32), 400);
    EXPECT_EQ(rig.load(0), 30);
    EXPECT_EQ(rig.load(96), 400);
    EXPECT_EQ(rig.counters().dram_bytes, 3 * 32U);
    EXPECT_EQ(rig.load(128), 400);
    EXPECT_EQ(rig.load(0), 400);
    EXPECT_EQ(rig.load(32), 400);
}

TEST(CacheSectors, AWideTransactionFetchesOnlyTheMissingOnes) {
    Rig rig(machine_with({{"c", make_cache({.sector = 32})}}));
    rig.load(64);
    (void)rig.counters();
    EXPECT_EQ(rig.latency({.address = 64, .bytes = 64}), 400);  // sector 2 is resident, 3 is not
    EXPECT_EQ(rig.counters().dram_bytes, 32U);
    EXPECT_EQ(rig.latency({.address = 64, .bytes = 64}), 30);
}

TEST(CacheSectors, AHitWaitsOnlyForItsOwnSectorsInFlight) {
    auto m = machine_with({{"c", make_cache({.sector = 32})}});
    m.tlbs["t"] = make_tlb({});
    m.paths["global"].tlbs.set({"t"});
    Rig rig(m);
    EXPECT_EQ(rig.memory->access({.address = 0, .bytes = 4}, 0), 450);
    EXPECT_EQ(rig.memory->access({.address = 4, .bytes = 4}, 1), 450) << "on its way";
    EXPECT_NEAR(rig.memory->access({.address = 64, .bytes = 32}, 2), 450, 2) << "its translation is on its way";
    EXPECT_NEAR(rig.memory->access({.address = 0, .bytes = 64}, 3), 450, 1) << "half of it is on its way for longer";
    EXPECT_EQ(rig.memory->access({.address = 0, .bytes = 64}, 1000), 1030);
    EXPECT_EQ(rig.memory->access({.address = 96, .bytes = 32}, 1000), 1400);
    EXPECT_EQ(rig.memory->access({.address = 0, .bytes = 32}, 1001), 1031) << "has been there for long";
}

TEST(CacheSectors, LargerOnesOfTheNextLevelAreFilledWhole) {
    // GT200's texture path: 32-byte lines before 256-byte lines.
    Rig rig(machine_with({{"l1", make_cache({.scope = "tpc", .line = 32, .sector = 32})},
                          {"l2", make_cache({.scope = "gpu", .line = 256, .sector = 256, .latency = 200})}}));
    EXPECT_EQ(rig.load(0), 400);
    EXPECT_EQ(rig.counters().dram_bytes, 256U);
    EXPECT_EQ(rig.load(224), 200);
    EXPECT_EQ(rig.load(224), 30);
    EXPECT_EQ(rig.load(256), 400);
}

TEST(CacheSectors, ATransactionLooksUpAllLinesThatItSpans) {
    Rig rig(machine_with({{"l1", make_cache({.line = 256, .sector = 256})},
                          {"l2", make_cache({.scope = "gpu", .line = 64, .sector = 64, .ways = 8, .latency = 200})}}));
    EXPECT_EQ(rig.latency({.address = 0, .bytes = 4}), 400);
    const auto counters = rig.counters();
    EXPECT_EQ(counters.cache_misses.at("l1"), 1U);
    EXPECT_EQ(counters.cache_misses.at("l2"), 4U);
    EXPECT_EQ(counters.dram_bytes, 256U);
}

TEST(CacheHints, SkipTheNamedCaches) {
    Rig rig(two_levels());
    EXPECT_EQ(rig.latency({.address = 0, .bytes = 4, .hint = CacheHint::l2_only}), 400);
    EXPECT_EQ(rig.latency({.address = 0, .bytes = 4, .hint = CacheHint::l2_only}), 200);
    EXPECT_EQ(rig.load(0), 200) << "the L1 was not filled";
    EXPECT_EQ(rig.load(0), 30);
    EXPECT_EQ(rig.latency({.address = 0, .bytes = 4, .hint = CacheHint::none}), 400);
}

TEST(Tlb, AddsThePenaltyOfEachLevelThatMisses) {
    auto m = bare_machine();
    m.tlbs["t1"] = make_tlb({.span = 4096, .ways = 4, .penalty = 47});
    m.tlbs["t2"] = make_tlb({.scope = "gpu", .span = 4096, .ways = 8, .sets = 2, .penalty = 211});
    m.paths["global"].tlbs.set({"t1", "t2"});
    Rig rig(m);
    EXPECT_EQ(rig.load(0), 400 + 47 + 211);
    EXPECT_EQ(rig.load(4092), 400);
    for (std::uint64_t page = 1; page < 4; ++page) EXPECT_EQ(rig.load(page << 12), 400 + 47 + 211);
    for (std::uint64_t page = 0; page < 4; ++page) EXPECT_EQ(rig.load(page << 12), 400) << "within reach";
    EXPECT_EQ(rig.load(4 << 12), 400 + 47 + 211);
    EXPECT_EQ(rig.load(0), 400 + 47) << "evicted from the first level only";
    EXPECT_EQ(rig.load(0, 1), 400 + 47) << "another SM has its own first level";
    const auto counters = rig.counters();
    EXPECT_EQ(counters.cache_misses.at("tlbs.t1"), 7U);
    EXPECT_EQ(counters.cache_hits.at("tlbs.t1"), 5U);
    EXPECT_EQ(counters.cache_misses.at("tlbs.t2"), 5U);
    EXPECT_EQ(counters.cache_hits.at("tlbs.t2"), 2U);
}

TEST(Tlb, HasUnequalSets) {
    auto m = bare_machine();
    auto tlb = make_tlb({});
    tlb.ways = tlb.sets = tlb.entries = tlb.reach = {};
    tlb.set_ways.set({3, 1});
    m.tlbs["t"] = tlb;
    m.paths["global"].tlbs.set({"t"});
    Rig rig(m);
    const auto all_hit = [&](std::uint64_t parity, std::uint64_t pages) {
        for (std::uint64_t i = 0; i < pages; ++i) rig.load((2 * i + parity) << 12);
        bool hit = true;
        for (std::uint64_t i = 0; i < pages; ++i) hit = hit && rig.load((2 * i + parity) << 12) == 400;
        return hit;
    };
    EXPECT_TRUE(all_hit(0, 3));
    EXPECT_FALSE(all_hit(0, 4));
    EXPECT_TRUE(all_hit(1, 1));
    EXPECT_FALSE(all_hit(1, 2));
}

TEST(Tlb, DealsConsecutivePagesToUnequalSetsUpToTheirCapacity) {
    // Mei 2014, Fig. 11: 65 consecutive entries stay resident, and each further one makes one more set overflow.
    auto m = bare_machine();
    auto tlb = make_tlb({});
    tlb.ways = tlb.sets = tlb.entries = tlb.reach = {};
    tlb.set_ways.set({17, 8, 8, 8, 8, 8, 8});
    tlb.index.set("dealt");
    m.tlbs["t"] = tlb;
    m.paths["global"].tlbs.set({"t"});
    const auto missing = [&](std::uint64_t pages) {
        Rig rig(m);
        std::uint64_t missed = 0;
        for (int pass = 0; pass < 3; ++pass)
            for (std::uint64_t i = 0; i < pages; ++i) missed += rig.load(i << 12) != 400 && pass == 2 ? 1 : 0;
        return missed;
    };
    EXPECT_EQ(missing(65), 0U);
    EXPECT_EQ(missing(66), 18U);
    EXPECT_EQ(missing(67), 18U + 9);
    EXPECT_EQ(missing(72), 72U);
}

TEST(Tlb, BeforeCachesDelaysHitsAndAfterTheFirstDoesNot) {
    for (const std::string position : {"before-caches", "after-first-cache"}) {
        auto m = machine_with({{"l1", make_cache({.ways = 8, .sets = 8})},
                               {"l2", make_cache({.scope = "gpu", .ways = 8, .sets = 8, .latency = 200})}});
        m.tlbs["t"] = make_tlb({.ways = 1});
        m.paths["global"].tlbs.set({"t"});
        m.paths["global"].tlb_position.set(position);
        Rig rig(m);
        EXPECT_EQ(rig.load(0), 450);
        EXPECT_EQ(rig.load(4096 + 128), 450);
        EXPECT_EQ(rig.load(0), position == "before-caches" ? 80 : 30);
        EXPECT_EQ(rig.load(4096 + 128, 1), 250);
        EXPECT_EQ(rig.load(4096 + 128, 1), 30);
    }
}

TEST(Tlb, SeesImagesOfOnePieceOfMemoryAsDifferentPages) {
    auto m = machine_with({{"l2", make_cache({.scope = "gpu", .latency = 200})}});
    m.tlbs["t"] = make_tlb({.ways = 2});
    m.paths["global"].tlbs.set({"t"});
    Rig rig(m);
    rig.addresses.alias_base = 1 << 20;
    rig.addresses.alias_bytes = 4096;
    rig.load(1 << 20);
    EXPECT_EQ(rig.load((1 << 20) + 4096), 250) << "the data are in the cache, the translation is not";
    EXPECT_EQ(rig.load((1 << 20) + 4096), 200);
}

TEST(Tlb, PageWindowIsSwitchedAtACost) {
    auto m = bare_machine();
    m.paths["global"].page_window.set(std::int64_t{512} << 20);  // Mei 2014, 4.2
    m.paths["global"].page_window_penalty.set(90);
    Rig rig(m);
    EXPECT_EQ(rig.load(0), 400);
    EXPECT_EQ(rig.load(std::uint64_t{511} << 20), 400);
    EXPECT_EQ(rig.load(std::uint64_t{512} << 20), 490);
    EXPECT_EQ(rig.load(std::uint64_t{600} << 20), 400);
    EXPECT_EQ(rig.load(0), 490);
}

TEST(Tlb, PageWalksGoThroughTheLastCache) {
    auto m = machine_with({{"l2", make_cache({.scope = "gpu", .ways = 8, .latency = 200})}});
    m.tlbs["t"] = make_tlb({.ways = 2});
    m.paths["global"].tlbs.set({"t"});
    m.paths["global"].page_walk_memory_penalty.set(90);
    Rig rig(m);
    const std::uint64_t page = static_cast<std::uint64_t>(*m.tlbs["t"].span);
    EXPECT_EQ(rig.load(0), 400 + 50 + 90) << "nothing is anywhere";
    EXPECT_EQ(rig.load(page), 400 + 50) << "its entry lies in the line of the first page's";
    EXPECT_EQ(rig.load(0), 200);
    EXPECT_EQ(rig.load(1000 * page), 400 + 50 + 90) << "its entry lies in a line of its own";
    EXPECT_EQ(rig.load(page), 200 + 50) << "no longer in the TLB, but the data and the entry are in the cache";
}

TEST(MemoryPaths, ShareTheNamedCaches) {
    auto m = bare_machine();
    m.caches["shared_l2"] = make_cache({.scope = "gpu", .latency = 200});
    m.caches["constant_l1"] = make_cache({.latency = 8});
    m.paths["constant"].caches.set({"constant_l1", "shared_l2"});
    m.paths["constant"].memory_latency.set(476);
    m.paths["instruction"].caches.set({"shared_l2"});
    m.paths["instruction"].memory_latency.set(476);
    Rig rig(m);
    EXPECT_EQ(rig.latency({.address = 0, .bytes = 4, .path = PathKind::constant}), 476);
    EXPECT_EQ(rig.latency({.address = 0, .bytes = 4, .path = PathKind::instruction}), 200);
    EXPECT_EQ(rig.latency({.address = 0, .bytes = 4, .path = PathKind::constant}), 8);
    EXPECT_THAT([&] { rig.latency({.address = 0, .bytes = 4, .path = PathKind::texture}); },
                testing::ThrowsMessage<InputError>(HasSubstr("paths.texture")));
}

TEST(Stores, DoNotAllocateInANearCacheUnlessDescribed) {
    auto m = two_levels();
    {
        Rig rig(m);
        rig.store(0, 128);
        EXPECT_EQ(rig.load(0), 200) << "in the L2, not in the L1";
    }
    m.caches["l1"].allocation.set("load-store");
    m.caches["l2"].allocation.set("load");
    Rig rig(m);
    rig.store(0, 128);
    EXPECT_EQ(rig.load(0), 30);
    EXPECT_EQ(rig.load(0, 1), 400) << "not in the L2";
}

TEST(Stores, ReachDramWhenAWriteBackCacheEvictsTheirLine) {
    auto m = machine_with({{"l2", make_cache({.scope = "gpu", .sector = 32, .ways = 1, .sets = 1, .latency = 200})}});
    Rig rig(m);
    rig.store(0, 64);
    EXPECT_EQ(rig.counters().dram_bytes, 0U);
    rig.load(0);
    EXPECT_EQ(rig.counters().dram_bytes, 0U);
    rig.load(1024);
    EXPECT_EQ(rig.counters().dram_bytes, 64 + 32U) << "two dirty sectors out, one sector in";
    rig.load(0);
    EXPECT_EQ(rig.counters().dram_bytes, 32U) << "a clean line leaves silently";
    m.caches["l2"].write_policy.set("write-through");
    Rig through(m);
    through.store(0, 64);
    EXPECT_EQ(through.counters().dram_bytes, 64U);
    through.load(1024);
    EXPECT_EQ(through.counters().dram_bytes, 32U);
}

TEST(Stores, CompleteAtOnceWhenNothingElseIsInFlight) {
    Rig rig(two_levels());
    for (std::uint64_t i = 0; i < 100; ++i) EXPECT_EQ(rig.store(i * 128, 128), 0);
}

TEST(Atomics, OnOneAddressAreServedOneByOne) {
    Rig rig(two_levels());
    const Transaction add{.address = 64, .bytes = 4, .kind = AccessKind::atomic};
    rig.latency(add);
    for (std::uint32_t i = 0; i < 5; ++i) EXPECT_EQ(rig.memory->access(add, rig.now + 1000), rig.now + 1000 + 200 + i);
    Transaction other = add;
    other.address = 68;
    EXPECT_EQ(rig.memory->access(other, rig.now + 1000), rig.now + 1200) << "another address does not wait";
    EXPECT_EQ(rig.load(64), 200) << "atomics don't fill the L1";
}

TEST(Launches, ForgetQueuesAndKeepContents) {
    Rig rig(two_levels());
    rig.load(0);
    for (std::uint64_t i = 0; i < 20'000; ++i)
        (void)rig.memory->access({.address = (1 << 20) + i * 128, .bytes = 128, .sm = 1, .hint = CacheHint::none}, 0);
    rig.memory->begin_launch();
    EXPECT_EQ(rig.memory->access({.address = 0, .bytes = 4}, 0), 30);
    EXPECT_EQ(rig.memory->access({.address = 1 << 24, .bytes = 4}, 30), 430);
}

TEST(Launches, CountEachAccessOnce) {
    Rig rig(two_levels());
    rig.load(0);
    rig.load(0);
    rig.load(0, 1);
    auto counters = rig.counters();
    EXPECT_EQ(counters.memory_transactions, 3U);
    EXPECT_EQ(counters.cache_hits, (std::map<std::string, std::uint64_t>{{"l1", 1}, {"l2", 1}}));
    EXPECT_EQ(counters.cache_misses, (std::map<std::string, std::uint64_t>{{"l1", 2}, {"l2", 1}}));
    EXPECT_EQ(counters.dram_bytes, 128U);
    counters = rig.counters();
    EXPECT_EQ(counters.memory_transactions, 0U);
    EXPECT_EQ(counters.cache_misses.at("l1"), 0U);
}

TEST(Noise, IsAddedOnRequestAndRepeatsWithTheSeed) {
    MemoryOptions options;
    options.noise.jitter_cycles = 5;
    options.noise.outlier_fraction = 0.1;
    const auto latencies = [&](std::uint64_t seed) {
        options.seed = seed;
        Rig rig(bare_machine(), options);
        std::vector<double> values;
        for (int i = 0; i < 2000; ++i) values.push_back(rig.load(0));
        return values;
    };
    const auto values = latencies(1);
    EXPECT_EQ(values, latencies(1));
    EXPECT_NE(values, latencies(2));
    int outliers = 0;
    double sum = 0, squares = 0;
    for (const double v : values) {
        outliers += v > 1400;
        const double error = v > 1400 ? v - 2400 : v - 400;
        sum += error, squares += error * error;
    }
    EXPECT_NEAR(outliers, 200, 60);
    EXPECT_NEAR(sum / 2000, 0, 0.6);
    EXPECT_NEAR(std::sqrt(squares / 2000), 5, 0.4);
}

}  // namespace
}  // namespace gputomo::sim::test
