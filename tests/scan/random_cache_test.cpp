// Single caches of known geometry, deduced from hits and misses alone.
#include "validate/cache_campaign.hpp"

#include "sim/memory/tag_array.hpp"
#include "units/file.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

namespace gputomo::validate {
namespace {

deduce::CacheFindings deduce(const machine::Cache& cache, std::uint64_t capacity, double outliers = 0.01) {
    CachePath path(cache, {2, outliers}, 17);
    return deduce::deduce_geometry(std::ref(path), {.threshold = path.threshold(),
                                                    .fits = capacity / 2,
                                                    .overflows = capacity * 2,
                                                    .buffer_bytes = std::uint64_t{32} << 20,
                                                    .base = path.base()});
}

machine::Cache cache_of(std::int64_t line, std::int64_t sets, std::string policy) {
    machine::Cache cache;
    cache.line.set(line);
    cache.sets.set(sets);
    cache.policy.set(std::move(policy));
    return cache;
}

TEST(SingleCaches, UnequalSetsAreCountedOneByOne) {
    // Like Mei 2014's TLB: one set of 17 ways, six of 8.
    auto cache = cache_of(64, 7, "lru");
    cache.set_ways.set({17, 8, 8, 8, 8, 8, 8});
    const auto found = deduce(cache, 4096);
    EXPECT_EQ(found.set_ways, (std::vector<std::int64_t>{17, 8, 8, 8, 8, 8, 8}));
    EXPECT_EQ(found.capacity.value, 65 * 64);
    EXPECT_EQ(found.sets.value, 7);
    EXPECT_EQ(found.ways.value, 17);
    EXPECT_EQ(found.policy.name, "lru");
}

TEST(SingleCaches, AHashOfAddressBitsIsFoundByItsMasks) {
    auto cache = cache_of(128, 4, "srrip");
    cache.ways.set(6);
    cache.index.set("hash");
    cache.index_hash.set({0x9080, 0x4100});
    const auto found = deduce(cache, 2048);
    EXPECT_EQ(found.index, "hash");
    EXPECT_EQ(found.index_hash, (std::vector<std::int64_t>{0x9080, 0x4100}));
    EXPECT_EQ(found.capacity.value, 24 * 128);
    EXPECT_EQ(found.policy.name, "srrip");
}

TEST(SingleCaches, SetsChosenByHigherBitsAreFound) {
    // The texture L1 of Mei 2014, Fig. 7: address bits 7 and 8.
    auto cache = cache_of(32, 4, "lru");
    cache.ways.set(96);
    cache.index.set("bits");
    cache.index_bits.set({7, 8});
    const auto found = deduce(cache, 8192, 0);
    EXPECT_EQ(found.index, "bits");
    EXPECT_EQ(found.index_bits, (std::vector<std::int64_t>{7, 8}));
    EXPECT_EQ(found.capacity.value, 12 << 10);
}

TEST(SingleCaches, MoreTagsThanDataAreFound) {
    // Like an H200's L1: sets of four ways that no lines a power of two apart share, and data for fewer lines than
    // tags.
    auto cache = cache_of(128, 512, "lru");
    cache.sector.set(32);
    cache.ways.set(4);
    cache.capacity.set(std::int64_t{1864} * 128);
    cache.index.set("hash");
    const std::vector<std::int64_t> masks{0x5f0080, 0x40100,  0x560200, 0x110400, 0x7c0800,
                                          0x111000, 0x4f2000, 0x374000, 0x788000};
    cache.index_hash.set(masks);
    const auto found = deduce(cache, 128 << 10, 0.002);
    EXPECT_EQ(found.sets.value, 512);
    EXPECT_EQ(found.ways.value, 4);
    EXPECT_EQ(found.line.value, 128);
    EXPECT_EQ(found.capacity.value, 1864 * 128);
    EXPECT_EQ(found.index_hash, masks);
    EXPECT_EQ(found.policy.name, "lru");
}

TEST(SingleCaches, FullTreesThatNeverSettleLackNoData) {
    // Five ways on a tree for eight: an array of four lines a set goes on missing, as if there were data for fewer
    // lines than tags.
    auto cache = cache_of(16, 64, "tree-plru");
    cache.ways.set(5);
    const auto found = deduce(cache, 4096);
    EXPECT_EQ(found.sets.value, 64);
    EXPECT_EQ(found.ways.value, 5);
    EXPECT_EQ(found.capacity.value, 64 * 5 * 16);
}

TEST(SingleCaches, ALargeHashedCacheIsFoundFromAFewOfItsLines) {
    auto cache = cache_of(64, 256, "lru");
    cache.ways.set(60);
    cache.index.set("hash");
    const std::vector<std::int64_t> masks{0x90040, 0x41080, 0x28100, 0x14200, 0x88400, 0x50800, 0x221000, 0x112000};
    cache.index_hash.set(masks);
    CachePath path(cache, {2, 0.01}, 17);
    const std::uint64_t about = std::uint64_t{1} << 20;
    const auto found = deduce::deduce_geometry(std::ref(path), {.threshold = path.threshold(),
                                                                .fits = about / 2,
                                                                .overflows = about * 2,
                                                                .buffer_bytes = std::uint64_t{32} << 20,
                                                                .group_test_loads = std::uint64_t{64} << 20,
                                                                .base = path.base()});
    EXPECT_EQ(found.sets.value, 256);
    EXPECT_EQ(found.ways.value, 60);
    EXPECT_EQ(found.capacity.value, 256 * 60 * 64);
    EXPECT_EQ(found.index, "hash");
}

TEST(SingleCaches, SegmentedLruIsFound) {
    auto cache = cache_of(128, 64, "slru");
    cache.ways.set(4);
    const auto found = deduce(cache, 32 << 10);
    EXPECT_EQ(found.capacity.value, 32 << 10);
    EXPECT_EQ(found.policy.name, "slru");
}

TEST(SegmentedLru, AnswersEachLoadAsAnH200Did) {
    const std::string file = GPUTOMO_SOURCE_DIR "/recordings/h200-l1-set.json";
    const auto recorded = nlohmann::json::parse(read_file(file, "a recording"));
    std::size_t loads = 0;
    for (const auto& walk : recorded.at("walks")) {
        sim::TagArray set(std::make_shared<const sim::Geometry>(sim::Geometry{7, 7, {4}, {}, "slru", {}}), 1);
        const auto missed = walk.at("missed").get<std::string>();
        const auto tour = walk.at("tour").get<std::vector<std::uint64_t>>();
        for (std::size_t i = 0; i < missed.size(); ++i, ++loads)
            ASSERT_EQ(set.lookup(tour[i % tour.size()] << 7, 1, true).missing != 0, missed[i] == '1') << "load " << i;
    }
    EXPECT_EQ(loads, 28'656U);
}

TEST(SingleCaches, OddsOfSingleWaysAreCounted) {
    // Fermi's L1 (Mei 2014, 4.1).
    auto cache = cache_of(128, 32, "way-odds");
    cache.ways.set(4);
    cache.way_odds.set({1.0 / 6, 0.5, 1.0 / 6, 1.0 / 6});
    const auto found = deduce(cache, 16384, 0);
    EXPECT_EQ(found.policy.name, "way-odds");
    ASSERT_EQ(found.policy.odds.size(), 4U);
    EXPECT_NEAR(found.policy.odds[0], 0.5, 0.02);
    for (std::size_t way = 1; way < 4; ++way) EXPECT_NEAR(found.policy.odds[way], 1.0 / 6, 0.02);
}

TEST(CacheTally, PassesOnlyWhereNearlyAllIsFoundAndNothingSureIsWrong) {
    std::vector<CacheCase> cases(20, {.geometry = true, .index = true, .policy = true, .loads = 5});
    cases[3].policy = cases[4].policy = false;
    cases[5].geometry = false;
    EXPECT_TRUE(is_recovered(cases[0]));
    EXPECT_FALSE(is_recovered(cases[3]));
    const auto all = tally_of(cases);
    EXPECT_EQ(all.geometry, 19U);
    EXPECT_EQ(all.policy, 18U);
    EXPECT_EQ(all.loads, 100U);
    EXPECT_TRUE(passes(all)) << "95% of the geometries and 90% of the policies";
    cases[6].policy = false;
    EXPECT_FALSE(passes(tally_of(cases)));
    cases[6].policy = true, cases[7].geometry = false;
    EXPECT_FALSE(passes(tally_of(cases)));
    cases[7].geometry = true, cases[8].surely_wrong = {"ways"};
    EXPECT_FALSE(passes(tally_of(cases)));
    EXPECT_FALSE(is_recovered(cases[8]));
}

TEST(SingleCaches, RandomOnesAreNeverSurelyWrong) {
    int geometry = 0, policy = 0;
    constexpr int kCaches = 8;
    for (const auto& one : run({.caches = kCaches, .seed = 20'261, .noise = {4, 0.01}})) {
        geometry += one.geometry ? 1 : 0;
        policy += one.policy ? 1 : 0;
        EXPECT_TRUE(one.surely_wrong.empty()) << one.truth << "\nfound " << one.found;
    }
    EXPECT_GE(geometry, kCaches * 7 / 10);
    EXPECT_GE(policy, kCaches * 6 / 10);
}

}  // namespace
}  // namespace gputomo::validate
