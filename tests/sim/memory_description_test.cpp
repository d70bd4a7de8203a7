// Descriptions whose memory cannot be simulated: each error names the leaf, what was found and what was expected.
#include "memory_fixture.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>

namespace gputomo::sim::test {
namespace {

using machine::Cache;
using machine::Machine;
using machine::Tlb;
using testing::AllOf;
using testing::HasSubstr;

struct Case {
    std::string name;
    std::function<void(Machine&)> spoil;
    std::string path;
    std::string rest;  ///< more of the message
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

Machine whole() {
    Machine m = machine_with(
        {{"l1", make_cache({})}, {"l2", make_cache({.scope = "gpu", .ways = 8, .sets = 16, .latency = 200})}});
    m.tlbs["t1"] = make_tlb({});
    m.paths["global"].tlbs.set({"t1"});
    return m;
}

class BadDescription : public testing::TestWithParam<Case> {};

TEST_P(BadDescription, IsRefusedByTheNameOfTheLeaf) {
    Machine m = whole();
    ASSERT_EQ(complaint(m), "");
    GetParam().spoil(m);
    EXPECT_THAT(complaint(m),
                AllOf(HasSubstr(GetParam().path + ": "), HasSubstr(GetParam().rest), HasSubstr("expected")));
}

Cache& l1(Machine& m) { return m.caches["l1"]; }
Cache& l2(Machine& m) { return m.caches["l2"]; }
Tlb& t1(Machine& m) { return m.tlbs["t1"]; }

const std::vector<Case> kCases{
    {"LineIsMissing", [](Machine& m) { l1(m).line = {}; }, "caches.l1.line", "missing"},
    {"LineIsNoPowerOfTwo", [](Machine& m) { l1(m).line.set(96); }, "caches.l1.line",
     "found 96; expected a power of two"},
    {"LineIsUndecided", [](Machine& m) { l1(m).line.knowledge = machine::Knowledge::undecided; }, "caches.l1.line",
     "undecided"},
    {"LineIsNegative", [](Machine& m) { l1(m).line.set(-128); }, "caches.l1.line", "found -128"},
    {"SectorIsLargerThanTheLine", [](Machine& m) { l1(m).sector.set(256); }, "caches.l1.sector", "found 256"},
    {"SectorsAreTooMany", [](Machine& m) { l1(m).sector.set(2); }, "caches.l1.sector", "32 whole sectors"},
    {"CapacityContradictsWays", [](Machine& m) { l1(m).capacity.set(2048); }, "caches.l1.capacity",
     "found 2048; expected 1024 at most"},
    {"CapacityIsNoNumberOfLines", [](Machine& m) { l1(m).capacity.set(1000); }, "caches.l1.capacity",
     "whole number of lines"},
    {"WaysDivideNothing",
     [](Machine& m) {
         l1(m).sets = {};
         l1(m).ways.set(3);
     },
     "caches.l1.ways", "divisor of 8"},
    {"WaysAndSetsAreMissing", [](Machine& m) { l1(m).sets = l1(m).ways = {}; }, "caches.l1.ways", "missing"},
    {"SetWithoutWays",
     [](Machine& m) {
         l1(m).set_ways.set({4, 0});
     },
     "caches.l1.set_ways", "found 0"},
    {"SetWaysContradictSets",
     [](Machine& m) {
         l1(m).set_ways.set({4, 3, 1});
     },
     "caches.l1.sets", "found 2; expected 3"},
    {"PolicyIsMissing", [](Machine& m) { l1(m).policy = {}; }, "caches.l1.policy", "missing"},
    {"PolicyIsOnlyNotLru", [](Machine& m) { l1(m).policy.set("not-lru"); }, "caches.l1.policy",
     "found \"not-lru\"; expected one of lru, fifo, random, tree-plru, bit-plru, nru, srrip, brrip, slru, way-odds"},
    {"OddsAreMissing", [](Machine& m) { l1(m).policy.set("way-odds"); }, "caches.l1.way_odds", "missing"},
    {"OddsDontSumToOne",
     [](Machine& m) {
         l1(m).policy.set("way-odds");
         l1(m).way_odds.set({0.5, 0.5, 0.5, 0.5});
     },
     "caches.l1.way_odds", "a sum of 2"},
    {"OddsAreNegative",
     [](Machine& m) {
         l1(m).policy.set("way-odds");
         l1(m).way_odds.set({1.5, -0.5, 0, 0});
     },
     "caches.l1.way_odds", "-0.5"},
    {"OddsAreTooFew",
     [](Machine& m) {
         l1(m).policy.set("way-odds");
         l1(m).way_odds.set({0.5, 0.5});
     },
     "caches.l1.way_odds", "expected 4"},
    {"IndexIsUnknown", [](Machine& m) { l1(m).index.set("skewed"); }, "caches.l1.index", "skewed"},
    {"IndexBitsAreMissing", [](Machine& m) { l1(m).index.set("bits"); }, "caches.l1.index_bits", "missing"},
    {"IndexBitsLieInTheLine",
     [](Machine& m) {
         l1(m).index.set("bits");
         l1(m).index_bits.set({6});
     },
     "caches.l1.index_bits", "from 7 up"},
    {"IndexBitsAreTooMany",
     [](Machine& m) {
         l1(m).index.set("bits");
         l1(m).index_bits.set({7, 8});
     },
     "caches.l1.index_bits", "found 2"},
    {"HashMasksAreTooFew",
     [](Machine& m) {
         l2(m).index.set("hash");
         l2(m).index_hash.set({128});
     },
     "caches.l2.index_hash", "found 1"},
    {"HashMaskIsEmpty",
     [](Machine& m) {
         l1(m).index.set("hash");
         l1(m).index_hash.set({0});
     },
     "caches.l1.index_hash", "0x0"},
    {"ScopeIsMissing", [](Machine& m) { l1(m).scope = {}; }, "caches.l1.scope", "missing"},
    {"ScopeIsUnknown", [](Machine& m) { l1(m).scope.set("cluster"); }, "caches.l1.scope", "cluster"},
    {"ScopeNeedsTpcs",
     [](Machine& m) {
         l1(m).scope.set("tpc");
         m.topology.sms_per_tpc = {};
     },
     "topology.sms_per_tpc", "caches.l1.scope"},
    {"ScopeNeedsCpcs", [](Machine& m) { t1(m).scope.set("cpc"); }, "topology.sms_per_cpc", "tlbs.t1.scope"},
    {"ScopeNeedsGpcs", [](Machine& m) { t1(m).scope.set("gpc"); }, "topology.sms_per_gpc", "tlbs.t1.scope"},
    {"LatencyIsMissing", [](Machine& m) { l2(m).latency = {}; }, "caches.l2.latency", "missing"},
    {"LatencyIsNegative", [](Machine& m) { l2(m).latency.set(-1); }, "caches.l2.latency", "found -1"},
    {"LatencyRangeExcludesTheMean",
     [](Machine& m) {
         l2(m).latency_range.set({210, 220});
     },
     "caches.l2.latency_range", "[210, 220]"},
    {"PartitionsOfANearCache", [](Machine& m) { l1(m).partitions.set(2); }, "caches.l1.partitions", "found 2"},
    {"FarLatencyWithoutPartitions", [](Machine& m) { l2(m).far_latency.set(300); }, "caches.l2.partitions",
     "far_latency"},
    {"FarIsNearer",
     [](Machine& m) {
         l2(m).partitions.set(2);
         l2(m).far_latency.set(100);
     },
     "caches.l2.far_latency", "found 100"},
    {"FarTakesAllOfTheMean",
     [](Machine& m) {
         l2(m).partitions.set(2);
         l2(m).far_latency.set(400);
     },
     "caches.l2.far_latency", "found 400"},
    {"NearWriteBack", [](Machine& m) { l1(m).write_policy.set("write-back"); }, "caches.l1.write_policy",
     "write-through"},
    {"OutstandingEntriesAreMissing", [](Machine& m) { l1(m).outstanding_design.set("prt"); },
     "caches.l1.outstanding_entries", "missing"},
    {"MergeIsMissing",
     [](Machine& m) {
         l1(m).outstanding_design.set("mshr");
         l1(m).outstanding_entries.set(4);
     },
     "caches.l1.outstanding_merge", "missing"},
    {"PortRateIsZero", [](Machine& m) { l1(m).bytes_per_cycle.set(0); }, "caches.l1.bytes_per_cycle", "found 0"},
    {"SpanIsMissing", [](Machine& m) { t1(m).span = {}; }, "tlbs.t1.span", "missing"},
    {"ReachContradictsEntries", [](Machine& m) { t1(m).reach.set(1 << 20); }, "tlbs.t1.reach", "expected 16384"},
    {"EntriesContradictWays", [](Machine& m) { t1(m).entries.set(5); }, "tlbs.t1.entries", "found 5; expected 4"},
    {"PenaltyIsMissing", [](Machine& m) { t1(m).miss_penalty = {}; }, "tlbs.t1.miss_penalty", "missing"},
    {"PathNamesNoCache", [](Machine& m) { m.paths["global"].caches.set({"l3"}); }, "paths.global.caches", "\"l3\""},
    {"PathNamesACacheTwice",
     [](Machine& m) {
         m.paths["global"].caches.set({"l1", "l1"});
     },
     "paths.global.caches", "twice"},
    {"PathNamesNoTlb", [](Machine& m) { m.paths["global"].tlbs.set({"l3"}); }, "paths.global.tlbs", "\"l3\""},
    {"PathGoesBackToTheSm",
     [](Machine& m) {
         m.paths["global"].caches.set({"l2", "l1"});
     },
     "paths.global.caches", "\"l1\""},
    {"PathIsUnknown", [](Machine& m) { m.paths["surface"].memory_latency.set(1); }, "paths.surface", "global, texture"},
    {"MemoryLatencyIsMissing", [](Machine& m) { m.paths["global"].memory_latency = {}; }, "paths.global.memory_latency",
     "missing"},
    {"MemoryLatencyRangeHasNoMean",
     [](Machine& m) {
         m.paths["global"].memory_latency_range.set({399, 500});
     },
     "paths.global.memory_latency_range", "400"},
    {"TranslationAfterAPhysicalCache",
     [](Machine& m) {
         m.paths["global"].caches.set({"l2"});
         m.paths["global"].tlb_position.set("after-first-cache");
     },
     "paths.global.tlb_position", "before-caches"},
    {"WindowWithoutPenalty", [](Machine& m) { m.paths["global"].page_window.set(4096); },
     "paths.global.page_window_penalty", "missing"},
    {"PageWalkWithoutACache",
     [](Machine& m) {
         m.paths["global"].caches.set({});
         m.paths["global"].page_walk_memory_penalty.set(90);
     },
     "paths.global.page_walk_memory_penalty", "TLBs"},
    {"SmsAreMissing", [](Machine& m) { m.topology.sms = {}; }, "topology.sms", "missing"},
    {"ClockIsMissing", [](Machine& m) { m.clock.sm_mhz = {}; }, "clock.sm_mhz", "missing"},
    {"BandwidthIsMissing", [](Machine& m) { m.memory.read_bandwidth = {}; }, "memory.read_bandwidth", "missing"},
    {"ReadsAreFasterThanTheChannels", [](Machine& m) { m.memory.channel_bytes_per_cycle.set(20); },
     "memory.read_bandwidth", "80.00"},
    {"ChannelsAreMissing",
     [](Machine& m) {
         m.memory.channels = {};
         m.memory.channel_bytes_per_cycle.set(20);
     },
     "memory.channels", "missing"},
    {"CopiesAreTwiceAsFastAsReads", [](Machine& m) { m.memory.copy_bandwidth.set(200); }, "memory.copy_bandwidth",
     "found 200"},
    {"PortIsClosed", [](Machine& m) { m.memory.interconnect_bytes_per_cycle.set(0); },
     "memory.interconnect_bytes_per_cycle", "found 0"},
};

INSTANTIATE_TEST_SUITE_P(Cases, BadDescription, testing::ValuesIn(kCases),
                         [](const auto& info) { return info.param.name; });

TEST(Description, NeedsNoPolicyForDirectMappedCaches) {
    auto m = machine_with({{"c", make_cache({.ways = 1, .sets = 8})}});
    m.caches["c"].policy = {};
    EXPECT_EQ(complaint(m), "");
}

TEST(Description, DerivesSetsFromCapacityAndWays) {
    auto m = machine_with({{"c", make_cache({.ways = 3, .sets = 5})}});
    m.caches["c"].sets = {};
    Rig rig(m);
    for (int pass = 0; pass < 2; ++pass)
        for (std::uint64_t line = 0; line < 15; ++line) EXPECT_EQ(rig.load(line * 128), pass == 0 ? 400 : 30);
}

TEST(Description, QuotesKeysWithDots) {
    auto m = machine_with({{"l1.5", make_cache({})}});
    m.caches["l1.5"].line = {};
    EXPECT_THAT(complaint(m), HasSubstr("caches[l1.5].line: missing"));
}

}  // namespace
}  // namespace gputomo::sim::test
