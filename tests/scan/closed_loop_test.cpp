// Simulates a machine description, scans the simulation, and compares the scan with the description.
#include "experiments/experiment.hpp"
#include "machine/json.hpp"
#include "scan/declared_findings.hpp"
#include "scan/plan.hpp"
#include "scan/runner.hpp"
#include "sim/simulator.hpp"
#include "validate/compare.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace gputomo::validate {
namespace {

using ::testing::IsSupersetOf;

struct ClosedLoop {
    std::vector<std::string> wrong, exact, undecided;
};

machine::Machine loaded(const std::string& file) { return machine::load(std::string(GPUTOMO_SOURCE_DIR) + "/" + file); }

/// Runs the experiments `only` with what they declare; all of a scan if `only` is empty.
ClosedLoop close_loop(const machine::Machine& truth, const std::vector<std::string>& only = {}) {
    const auto device = sim::make_device(truth, {.id = "sim:closed-loop", .seed = 3});
    const auto plan = only.empty() ? scan::plan_of_all(experiments::catalogue(), measure::Budget::small)
                                   : scan::plan(experiments::catalogue(), only);
    const auto scanned = scan::run(*device, plan, {.seed = 3});
    ClosedLoop loop;
    for (const auto& record : scanned.records)
        if (record.status != scan::Status::done) loop.wrong.push_back(record.id + ": " + record.error);
    for (const auto* experiment : plan)
        for (const auto& record : scanned.records)
            for (const auto& estimate : record.outcome.estimates)
                if (record.id == experiment->id && !scan::provides(*experiment, estimate.path))
                    loop.wrong.push_back(record.id + " does not declare " + estimate.path);
    for (const auto& comparison : compare(truth, scan::describe(scanned))) {
        if (comparison.verdict == Verdict::exact) loop.exact.push_back(comparison.path);
        if (comparison.verdict == Verdict::wrong) loop.wrong.push_back(comparison.path);
        if (comparison.verdict == Verdict::undecided) loop.undecided.push_back(comparison.path);
    }
    return loop;
}

TEST(ClosedLoop, RecoversTheGtx280) {
    const auto loop = close_loop(loaded("machines/gtx280.json"));
    EXPECT_EQ(loop.wrong, std::vector<std::string>{});
    // Routines of several machine instructions, whose number no timing shows without machine code.
    EXPECT_EQ(loop.undecided,
              (std::vector<std::string>{
                  "operations[cos.approx.f32].instructions", "operations[div.approx.f32].instructions",
                  "operations[ex2.approx.f32].instructions", "operations[mad.lo.s32].instructions",
                  "operations[mad.lo.u32].instructions", "operations[mul.hi.u32].instructions",
                  "operations[mul.lo.s32].instructions", "operations[mul.lo.u32].instructions",
                  "operations[sin.approx.f32].instructions", "operations[sqrt.approx.f32].instructions"}));
    EXPECT_GE(loop.exact.size(), 60U);
}

TEST(ClosedLoop, RecoversAFermiLikeGpu) {
    const auto loop = close_loop(loaded("tests/data/machines/fermi_like.json"));
    EXPECT_EQ(loop.wrong, std::vector<std::string>{});
    EXPECT_EQ(loop.undecided,
              (std::vector<std::string>{"operations[mad.lo.s32].instructions", "operations[mul.lo.s32].instructions",
                                        "shared.allocation_unit"}));
    EXPECT_GE(loop.exact.size(), 70U);
}

TEST(ClosedLoop, RecoversAKeplerLikeGpu) {
    const auto loop = close_loop(loaded("tests/data/machines/kepler_like.json"));
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
    const auto loop = close_loop(loaded("machines/gtx780.json"), {"caches", "tlb"});
    EXPECT_EQ(loop.wrong, std::vector<std::string>{});
    EXPECT_EQ(loop.undecided, std::vector<std::string>{});
    EXPECT_GE(loop.exact.size(), 25U) << "caches alone are 17";
    EXPECT_THAT(loop.exact, IsSupersetOf({"tlbs.global_l1.policy", "tlbs.global_l2.policy"}));
}

TEST(ClosedLoop, RecoversAnotherTlbAndAnotherPageWindow) {
    auto truth = loaded("machines/gtx780.json");
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
    const auto loop = close_loop(truth, {"tlb"});
    EXPECT_EQ(loop.wrong, std::vector<std::string>{});
    EXPECT_EQ(loop.undecided, std::vector<std::string>{});
    EXPECT_THAT(loop.exact,
                IsSupersetOf({"tlbs.global_l2.set_ways", "tlbs.global_l2.policy", "paths.global.page_window"}));
}

}  // namespace
}  // namespace gputomo::validate
