#include "machine/diff.hpp"

#include <gtest/gtest.h>

namespace gputomo::machine {
namespace {

TEST(MachineDiff, ComparesByIntervalToleranceAndCandidates) {
    Machine a, b;
    set_leaf(a, "paths.global.memory_latency",
             {Knowledge::known, std::int64_t{440}, {}, {.method = "m", .interval = {{438, 442}}}});
    set_leaf(b, "paths.global.memory_latency", {Knowledge::known, std::int64_t{443}, {}, {.method = "m"}});
    EXPECT_EQ(diff(a, b).differing.size(), 1U);
    EXPECT_EQ(diff(a, b, {.tolerance = 0.01}).differing.size(), 0U);
    set_leaf(b, "paths.global.memory_latency", {Knowledge::known, std::int64_t{441}, {}, {.method = "m"}});
    EXPECT_EQ(diff(a, b).equal, 1U);
    set_leaf(b, "paths.global.memory_latency",
             {Knowledge::undecided, {}, {std::int64_t{400}, std::int64_t{439}}, {.method = "m"}});
    EXPECT_EQ(diff(a, b).undecided.size(), 1U);
    set_leaf(b, "clock.scope", {Knowledge::known, std::string("sm"), {}, {.method = "m"}});
    EXPECT_EQ(diff(a, b).only_b, std::vector<std::string>{"clock.scope"});
}

TEST(MachineDiff, SkipsInternalLeaves) {
    Machine a, b;
    set_leaf(a, "memory.channels", {Knowledge::known, std::int64_t{8}, {}, {.source = "s"}});
    set_leaf(b, "memory.channels", {Knowledge::known, std::int64_t{4}, {}, {.source = "s"}});
    EXPECT_TRUE(diff(a, b).differing.empty());
}

Leaf known(Value value) { return {Knowledge::known, std::move(value), {}, {.method = "m"}}; }

TEST(MachineDiff, TreatsAbsentAsEqualToAbsentOnly) {
    Machine a, b;
    set_leaf(a, "caches.l1.capacity", {Knowledge::absent, {}, {}, {.method = "m"}});
    set_leaf(b, "caches.l1.capacity", {Knowledge::absent, {}, {}, {.source = "s"}});
    EXPECT_EQ(diff(a, b).equal, 1U);
    set_leaf(b, "caches.l1.capacity", known(std::int64_t{16384}));
    const auto result = diff(a, b);
    ASSERT_EQ(result.differing.size(), 1U);
    EXPECT_EQ(result.differing[0].path, "caches.l1.capacity");
    EXPECT_EQ(result.differing[0].unit, Unit::bytes);
    EXPECT_EQ(value_text(result.differing[0].a), "absent");
    EXPECT_EQ(value_text(result.differing[0].b), "16384");
}

TEST(MachineDiff, RoundingIsNoDifference) {
    const auto same = [](double a, double b) { return same_value(known(a), known(b), 0); };
    EXPECT_TRUE(same(1380, 1380.0000000000002));
    EXPECT_FALSE(same(1380, 1380.0001));
}

TEST(MachineDiff, WritesDifferentNumbersDifferently) {
    const auto texts = [](double a, double b) {
        return value_texts({"clock.sm_mhz", Unit::megahertz, known(a), known(b)});
    };
    EXPECT_EQ(texts(1380, 1379.99995), (std::array<std::string, 2>{"1380", "1379.99995"}));
    EXPECT_EQ(texts(1380, 1400.00001), (std::array<std::string, 2>{"1380", "1400"}));
}

TEST(MachineDiff, ReportsCandidatesThatExcludeTheOtherValue) {
    Machine a, b;
    set_leaf(a, "caches.l1.ways", {Knowledge::undecided, {}, {std::int64_t{4}, std::int64_t{8}}, {.method = "m"}});
    set_leaf(b, "caches.l1.ways", known(std::int64_t{6}));
    EXPECT_EQ(diff(a, b).differing.size(), 1U);
    EXPECT_EQ(diff(b, a).differing.size(), 1U);
    set_leaf(b, "caches.l1.ways", known(std::int64_t{8}));
    EXPECT_EQ(diff(a, b).undecided, std::vector<std::string>{"caches.l1.ways"});
    EXPECT_EQ(diff(b, a).undecided, std::vector<std::string>{"caches.l1.ways"});
    set_leaf(b, "caches.l1.ways", {Knowledge::absent, {}, {}, {.method = "m"}});
    EXPECT_EQ(diff(a, b).differing.size(), 1U);
}

TEST(MachineDiff, ComparesListsElementByElement) {
    Machine a, b;
    set_leaf(a, "paths.global.memory_latency_range", known(std::vector<std::int64_t>{436, 443}));
    set_leaf(b, "paths.global.memory_latency_range", known(std::vector<std::int64_t>{436, 444}));
    EXPECT_EQ(diff(a, b).differing.size(), 1U);
    EXPECT_EQ(diff(a, b, {.tolerance = 0.01}).equal, 1U);
    set_leaf(b, "paths.global.memory_latency_range", known(std::vector<std::int64_t>{436}));
    EXPECT_EQ(diff(a, b, {.tolerance = 0.01}).differing.size(), 1U);
}

TEST(MachineDiff, TreatsNotLruAsUndecidedForEveryPolicyButLru) {
    Machine a, b;
    set_leaf(a, "caches.l1.policy", known(std::string("fifo")));
    set_leaf(b, "caches.l1.policy", known(std::string("not-lru")));
    EXPECT_EQ(diff(a, b).undecided.size(), 1U);
    EXPECT_EQ(diff(b, a).undecided.size(), 1U);
    EXPECT_EQ(diff(b, b).equal, 1U);
    set_leaf(a, "caches.l1.policy", known(std::string("lru")));
    EXPECT_EQ(diff(a, b).differing.size(), 1U);
}

TEST(MachineDiff, IsSymmetric) {
    Machine a, b;
    set_leaf(a, "clock.scope", known(std::string("sm")));
    set_leaf(b, "clock.resolution", known(std::int64_t{1}));
    const auto ab = diff(a, b), ba = diff(b, a);
    EXPECT_EQ(ab.only_a, ba.only_b);
    EXPECT_EQ(ab.only_b, ba.only_a);
    EXPECT_EQ(ab.only_a, std::vector<std::string>{"clock.scope"});
    EXPECT_EQ(ab.only_b, std::vector<std::string>{"clock.resolution"});
}

TEST(MachineDiff, WritesValuesAsText) {
    EXPECT_EQ(value_text(Value(std::int64_t{24})), "24");
    EXPECT_EQ(value_text(Value(1.7)), "1.7");
    EXPECT_EQ(value_text(Value(std::vector<std::int64_t>{436, 443})), "[436, 443]");
    EXPECT_EQ(value_text(Value(std::vector<std::string>{"sp", "sfu"})), "[sp, sfu]");
    EXPECT_EQ(value_text(Leaf{Knowledge::undecided, {}, {std::int64_t{42}, std::int64_t{44}}, {}}), "one of 42, 44");
    EXPECT_EQ(value_text(Leaf{Knowledge::undecided, {}, {}, {}}), "undecided");
}

}  // namespace
}  // namespace gputomo::machine
