#include "validate/compare.hpp"

#include "validate/random_machine.hpp"

#include "machine/paths.hpp"

#include <gtest/gtest.h>

namespace gputomo::validate {
namespace {

using machine::Knowledge;
using machine::Machine;
using machine::set_leaf;

void put(Machine& machine, const char* path, machine::Value value) {
    set_leaf(machine, path, {Knowledge::known, std::move(value), {}, {.method = "m"}});
}

Verdict verdict(const Machine& truth, const Machine& scanned, std::string_view path) {
    for (const auto& comparison : compare(truth, scanned))
        if (comparison.path == path) return comparison.verdict;
    ADD_FAILURE() << "no comparison of " << path;
    return Verdict::missing;
}

TEST(Compare, FindsAMachineExactlyEqualToItself) {
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        const Machine machine = random_machine(seed);
        const auto comparisons = compare(machine, machine);
        EXPECT_GT(comparisons.size(), 60U);
        for (const auto& comparison : comparisons) EXPECT_EQ(comparison.verdict, Verdict::exact) << comparison.path;
    }
}

TEST(Compare, AllowsRealsOnePercentAndRangesOneCycle) {
    Machine truth, scanned;
    put(truth, "shared.latency", std::int64_t{38});
    put(truth, "clock.sm_mhz", 1000.0);
    put(truth, "paths.global.memory_latency_range", std::vector<std::int64_t>{436, 443});
    put(scanned, "shared.latency", std::int64_t{38});
    put(scanned, "clock.sm_mhz", 1009.0);
    put(scanned, "paths.global.memory_latency_range", std::vector<std::int64_t>{435, 444});
    for (const auto& comparison : compare(truth, scanned))
        EXPECT_EQ(comparison.verdict, Verdict::exact) << comparison.path;
    put(scanned, "shared.latency", std::int64_t{39});
    put(scanned, "clock.sm_mhz", 1011.0);
    put(scanned, "paths.global.memory_latency_range", std::vector<std::int64_t>{436, 445});
    for (const auto& comparison : compare(truth, scanned))
        EXPECT_EQ(comparison.verdict, Verdict::wrong) << comparison.path;
}

TEST(Compare, CountsCandidatesAsUndecidedUnlessTheyExcludeTheTruth) {
    Machine truth, scanned;
    put(truth, "caches.l1.ways", std::int64_t{4});
    set_leaf(scanned, "caches.l1.ways",
             {Knowledge::undecided, {}, {std::int64_t{4}, std::int64_t{8}}, {.method = "m"}});
    EXPECT_EQ(verdict(truth, scanned, "caches.l1.ways"), Verdict::undecided);
    set_leaf(scanned, "caches.l1.ways", {Knowledge::undecided, {}, {std::int64_t{8}}, {.method = "m"}});
    EXPECT_EQ(verdict(truth, scanned, "caches.l1.ways"), Verdict::wrong);
    set_leaf(scanned, "caches.l1.ways", {Knowledge::undecided, {}, {}, {.method = "m"}});
    EXPECT_EQ(verdict(truth, scanned, "caches.l1.ways"), Verdict::undecided);
}

TEST(Compare, CountsAnExistingPartThatIsCalledAbsentAsWrong) {
    Machine truth, scanned;
    put(truth, "caches.l1.capacity", std::int64_t{4096});
    set_leaf(scanned, "caches.l1.capacity", {Knowledge::absent, {}, {}, {.method = "m"}});
    EXPECT_EQ(verdict(truth, scanned, "caches.l1.capacity"), Verdict::wrong);
}

TEST(Compare, CountsALeafWithoutEstimateAsMissing) {
    Machine truth;
    put(truth, "shared.latency", std::int64_t{38});
    EXPECT_EQ(verdict(truth, Machine{}, "shared.latency"), Verdict::missing);
}

TEST(Compare, MatchesCachesByTheirPlaceOnThePath) {
    Machine truth, scanned;
    put(truth, "paths.global.caches", std::vector<std::string>{"l1", "l2"});
    put(truth, "caches.l1.line", std::int64_t{32});
    put(truth, "caches.l2.line", std::int64_t{64});
    put(scanned, "paths.global.caches", std::vector<std::string>{"level_a", "l1"});
    put(scanned, "caches.level_a.line", std::int64_t{32});
    put(scanned, "caches.l1.line", std::int64_t{64});
    const auto comparisons = compare(truth, scanned);
    EXPECT_EQ(comparisons.size(), 3U);
    for (const auto& comparison : comparisons) EXPECT_EQ(comparison.verdict, Verdict::exact) << comparison.path;
}

TEST(Compare, CountsACacheThatDoesNotExistAsWrong) {
    Machine truth, scanned;
    put(truth, "paths.global.caches", std::vector<std::string>{"l1"});
    put(truth, "caches.l1.line", std::int64_t{32});
    put(scanned, "paths.global.caches", std::vector<std::string>{"l1", "l2"});
    put(scanned, "caches.l1.line", std::int64_t{32});
    put(scanned, "caches.l2.line", std::int64_t{64});
    EXPECT_EQ(verdict(truth, scanned, "caches.l1.line"), Verdict::exact);
    EXPECT_EQ(verdict(truth, scanned, "caches.l2.line"), Verdict::wrong);
    EXPECT_EQ(verdict(truth, scanned, "paths.global.caches"), Verdict::wrong);
    set_leaf(scanned, "caches.l2.line", {Knowledge::absent, {}, {}, {.method = "m"}});
    EXPECT_EQ(verdict(truth, scanned, "caches.l2.line"), Verdict::exact);
}

TEST(Compare, AcceptsNotLruForEveryPolicyButLru) {
    Machine truth, scanned;
    put(scanned, "caches.l1.policy", std::string("not-lru"));
    put(truth, "caches.l1.policy", std::string("fifo"));
    EXPECT_EQ(verdict(truth, scanned, "caches.l1.policy"), Verdict::exact);
    put(truth, "caches.l1.policy", std::string("lru"));
    EXPECT_EQ(verdict(truth, scanned, "caches.l1.policy"), Verdict::wrong);
    put(truth, "caches.l1.ways", std::int64_t{1});
    for (const auto& comparison : compare(truth, scanned)) EXPECT_NE(comparison.path, "caches.l1.policy");
}

TEST(Compare, SkipsInternalLeaves) {
    Machine truth;
    put(truth, "memory.channels", std::int64_t{8});
    EXPECT_TRUE(compare(truth, Machine{}).empty());
}

TEST(Compare, AddsUpTalliesByParameter) {
    Machine truth, scanned;
    put(truth, "operations[add.s32].latency", std::int64_t{24});
    put(truth, "operations[add.f32].latency", std::int64_t{24});
    put(truth, "issue.barrier_latency", std::int64_t{20});
    put(scanned, "operations[add.s32].latency", std::int64_t{24});
    put(scanned, "operations[add.f32].latency", std::int64_t{25});
    Tallies tallies;
    add(tallies, compare(truth, scanned));
    add(tallies, compare(truth, scanned));
    const Tally& latency = tallies.at("operations.*.latency");
    EXPECT_EQ(latency.exact, 2U);
    EXPECT_EQ(latency.wrong, 2U);
    EXPECT_EQ(latency.total(), 4U);
    EXPECT_EQ(tallies.at("issue.barrier_latency").missing, 2U);
    EXPECT_FALSE(covered(tallies).contains("issue.barrier_latency"));
    EXPECT_EQ(sum(tallies).total(), 6U);
    EXPECT_EQ(sum(tallies).decided(), 4U);
}

}  // namespace
}  // namespace gputomo::validate
