// Questions about lines of a cache that is known exactly.
#include "deduce/cache/chase/probe.hpp"

#include "caches/simulated_cache.hpp"

#include <gtest/gtest.h>

namespace gputomo::deduce::cache {
namespace {

using testing::CacheTruth;
using testing::SimulatedCache;

/// `count` lines of the set that offset 0 is in.
Offsets lines_of_a_set(const CacheTruth& truth, std::uint64_t count) {
    Offsets lines;
    for (std::uint64_t i = 0; i < count; ++i) lines.push_back(i * truth.sets * truth.line);
    return lines;
}

TEST(SignificantCount, IsTheSmallestThatAPoissonTailLeavesToOneSequenceInAHundred) {
    // Mean 0.1: P(3 or more) = 1.5e-4, P(4 or more) = 3.8e-6, for each of 100 loads.
    EXPECT_EQ(significant_count(0.01, 10, 100), 4);
    EXPECT_EQ(significant_count(0.01, 10, 100, 0.05), 3);
    EXPECT_EQ(significant_count(0, 10, 100), 2) << "a rate of 0 is not believed";
    EXPECT_EQ(significant_count(0.9, 3, 1000), 3) << "never more than the passes";
}

TEST(Probe, WindowsAreAlignedAndLeaveTheProbeTheyCameFromUnchanged) {
    const Chase chase = [](const ChaseRequest&) { return ChaseTrace{}; };
    const Probe probe(chase, {.buffer_bytes = 65536, .base = 0x1f00});
    EXPECT_EQ(probe.span(), 32768U) << "no aligned 64 KiB are in the buffer";
    EXPECT_EQ(probe.address() % probe.span(), 0U);
    const auto small = probe.within_aligned(4096, 1024);
    EXPECT_EQ(small.span(), 4096U);
    EXPECT_EQ(small.search_span(), 1024U);
    EXPECT_EQ(small.address(), 0x2000U);
    EXPECT_EQ(probe.within_aligned(4096, 8192).search_span(), 4096U) << "the search stays in the window";
    const auto whole = probe.over_whole_buffer();
    EXPECT_EQ(whole.origin(), 0U);
    EXPECT_EQ(whole.span(), 65536U);
    EXPECT_EQ(probe.span(), 32768U);
}

TEST(Probe, AsManyLinesAsWaysFitAndOneMoreDoesNot) {
    for (const std::string policy : {"lru", "fifo", "random", "tree-plru"}) {
        const CacheTruth truth{.ways = 4, .policy = policy};
        SimulatedCache cache(truth);
        const auto chase = cache.chase();
        const Probe probe(chase, truth.question());
        EXPECT_TRUE(probe.fits(lines_of_a_set(truth, 4))) << policy;
        EXPECT_FALSE(probe.fits(lines_of_a_set(truth, 5))) << policy;
        EXPECT_TRUE(probe.fits({}));
    }
}

TEST(Probe, AFullSetStaysBesideLinesOfOtherSetsOnly) {
    const CacheTruth truth;
    SimulatedCache cache(truth);
    const auto chase = cache.chase();
    const Probe probe(chase, truth.question());
    auto lines = lines_of_a_set(truth, 4);
    for (std::uint64_t set = 1; set < 8; ++set) lines.push_back(set * truth.line);
    EXPECT_TRUE(probe.first_lines_stay_resident(lines, 4));
    lines.push_back(lines_of_a_set(truth, 5).back());
    EXPECT_FALSE(probe.first_lines_stay_resident(lines, 4));
    EXPECT_FALSE(probe.first_lines_stay_resident_for_long(lines, 4));
}

TEST(Probe, GroupsAreJudgedEachForItself) {
    const CacheTruth truth;
    SimulatedCache cache(truth);
    const auto chase = cache.chase();
    std::vector<Offsets> groups;
    for (std::uint64_t set = 0; set < 4; ++set) {
        groups.push_back(lines_of_a_set(truth, 3 + set % 3));
        for (auto& offset : groups.back()) offset += set * truth.line;
    }
    EXPECT_EQ(Probe(chase, truth.question()).groups_fit(groups), (std::vector<bool>{true, true, false, true}));
}

TEST(Probe, MissRatesAreThoseOfEachLoad) {
    const CacheTruth truth;
    SimulatedCache cache(truth);
    const auto chase = cache.chase();
    const Probe probe(chase, truth.question());
    // Five lines of one LRU set of four ways miss always; the line of another set never.
    auto lines = lines_of_a_set(truth, 5);
    lines.push_back(truth.line);
    EXPECT_EQ(probe.miss_rates(lines, 2, 4), (std::vector<double>{1, 1, 1, 1, 1, 0}));
}

TEST(Probe, LoadsEachLineTwiceOnlyWhereThatMatters) {
    for (const std::string policy : {"lru", "brrip"}) {
        const CacheTruth truth{.policy = policy};
        SimulatedCache cache(truth);
        const auto chase = cache.chase();
        const auto probe = Probe(chase, truth.question()).with_sector(64).with_repeated_loads_if_needed();
        const auto before = cache.loads;
        static_cast<void>(probe.miss_rates({0, 64, 128}, 1, 4));
        EXPECT_EQ(cache.loads - before, policy == "lru" ? 15U : 30U) << policy;
    }
}

TEST(LoadBudget, EndsWithItsScopeAlsoAfterAnException) {
    const CacheTruth truth;
    SimulatedCache cache(truth);
    const auto chase = cache.chase();
    const Probe probe(chase, truth.question());
    const Offsets lines{0, 64};
    {
        const LoadBudget outer(probe, 100);
        try {
            const LoadBudget inner(probe.over_whole_buffer(), 5);
            EXPECT_EQ(probe.loads_left(), 5U);
            static_cast<void>(probe.miss_rates(lines, 1, 2));
            ADD_FAILURE() << "six loads do not fit in the budget";
        } catch (const BudgetExhausted&) {
            EXPECT_EQ(cache.loads, 0U);
        }
        EXPECT_EQ(probe.loads_left(), 100U);
        static_cast<void>(probe.miss_rates(lines, 1, 2));
        EXPECT_EQ(probe.loads_left(), 94U);
    }
    EXPECT_GT(probe.loads_left(), std::uint64_t{1} << 60);
}

TEST(SettlingTrial, ForgetsALongerWaitUnlessItIsKept) {
    const Chase chase = [](const ChaseRequest&) { return ChaseTrace{}; };
    const Probe probe(chase, {.buffer_bytes = 4096});
    const auto before = probe.settling_passes();
    {
        const SettlingTrial trial(probe);
        probe.settle_longer();
        EXPECT_EQ(probe.settling_passes(), 2 * before);
    }
    EXPECT_EQ(probe.settling_passes(), before);
    {
        SettlingTrial trial(probe);
        probe.settle_longer();
        trial.keep();
    }
    EXPECT_EQ(probe.settling_passes(), 2 * before);
}

}  // namespace
}  // namespace gputomo::deduce::cache
