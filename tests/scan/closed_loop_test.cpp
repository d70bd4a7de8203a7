// Scans of simulated GPUs find what the GPUs were described with. simulated_gtx280_test.cpp has one more.
#include "closed_loop.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace gputomo::validate {
namespace {

using ::testing::IsSupersetOf;

TEST(ClosedLoop, RecoversAFermiLikeGpu) {
    const auto loop = close_loop(described("tests/data/machines/fermi_like.json"), whole_plan());
    EXPECT_EQ(loop.wrong, std::vector<std::string>{});
    EXPECT_EQ(loop.undecided,
              (std::vector<std::string>{"operations[mad.lo.s32].instructions", "operations[mul.lo.s32].instructions",
                                        "shared.allocation_unit"}));
    EXPECT_GE(loop.exact.size(), 70U);
}

/// The SM of a Kepler: four schedulers that issue two instructions at once, with units of their own. The experiments
/// that are left out take half of a whole scan. Caches and TLBs of a Kepler are those of the GTX 780 in the next test,
/// and its requests in flight are in SimulatedK20. DRAM, intervals of loads and pauses of the memory are in the whole
/// scans of the other two GPUs.
TEST(ClosedLoop, RecoversAKeplerLikeSm) {
    const std::set<std::string_view> elsewhere{"caches",      "shared_split", "tlb",            "tlb_launches",
                                               "outstanding", "dram_bandwidth", "write_delay", "load_intervals",
                                               "memory_pauses"};
    auto plan = whole_plan();
    std::erase_if(plan, [&](const auto* experiment) { return elsewhere.contains(experiment->id); });
    const auto loop = close_loop(described("tests/data/machines/kepler_like.json"), plan);
    EXPECT_EQ(loop.wrong, std::vector<std::string>{});
    EXPECT_EQ(loop.undecided,
              (std::vector<std::string>{"operations[add.f64].units", "operations[add.s32].instructions",
                                        "operations[fma.rn.f64].units", "operations[mad.lo.s32].instructions",
                                        "operations[mul.f64].units", "operations[mul.lo.s32].instructions",
                                        "operations[rsqrt.approx.f32].units"}));
    EXPECT_GE(loop.exact.size(), 70U);
}

TEST(ClosedLoop, RecoversTlbsWhoseReachCrossesAPageWindow) {
    // The TLBs have one set of 16 entries, and seven sets of unequal size. A page window ends among the pages that the
    // experiment accesses (Mei 2014, 4.2).
    const auto loop = close_loop(described("machines/gtx780.json"), plan_of({"caches", "tlb"}));
    EXPECT_EQ(loop.wrong, std::vector<std::string>{});
    EXPECT_EQ(loop.undecided, std::vector<std::string>{});
    EXPECT_GE(loop.exact.size(), 25U) << "caches alone are 17";
    EXPECT_THAT(loop.exact, IsSupersetOf({"tlbs.global_l1.policy", "tlbs.global_l2.policy"}));
}

TEST(ClosedLoop, RecoversAnotherTlbAndAnotherPageWindow) {
    auto truth = described("machines/gtx780.json");
    auto &near = truth.tlbs.at("global_l1"), &far = truth.tlbs.at("global_l2");
    const std::int64_t span = 1 << 20;
    near.entries.set(12), near.ways.set(12), near.span.set(span), near.reach.set(12 * span);
    far.set_ways.set({11, 6, 6, 6}), far.ways.set(11), far.sets.set(4), far.entries.set(29), far.span.set(span),
        far.reach.set(29 * span);
    // A smaller data cache takes fewer loads to measure.
    auto& l2 = truth.caches.at("l2");
    l2.capacity.set(*l2.capacity / 2);
    if (l2.sets) l2.sets.set(*l2.sets / 2);
    auto& path = truth.paths.at("global");
    path.page_window.set(128 << 20), path.page_window_penalty.set(75);
    const auto loop = close_loop(truth, plan_of({"tlb"}));
    EXPECT_EQ(loop.wrong, std::vector<std::string>{});
    EXPECT_EQ(loop.undecided, std::vector<std::string>{});
    EXPECT_THAT(loop.exact,
                IsSupersetOf({"tlbs.global_l2.set_ways", "tlbs.global_l2.policy", "paths.global.page_window"}));
}

}  // namespace
}  // namespace gputomo::validate
