#include "experiments/caches/scope_report.hpp"

#include "../measure/scripted_device.hpp"
#include "results/estimates.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gputomo::experiments {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// A GPU in clusters of 18 SMs, with one SM for each entry of `losses`. Entry i is what SM i takes from SM 0.
class ScopeReport : public ::testing::Test {
protected:
    results::Estimate scope_of(const std::vector<double>& losses) {
        device.attributes[device::Attribute::multiprocessor_count] = static_cast<std::int64_t>(losses.size());
        Sharing sharing;
        for (std::uint32_t rival = 0; rival < losses.size(); ++rival) sharing.losses.push_back({rival, losses[rival]});
        Outcome outcome;
        report_scope({.device = device, .findings = findings}, "caches.c.scope", sharing, "competition", outcome);
        return outcome.estimates.at(0);
    }
    static std::vector<double> losses_of(std::size_t sms, std::size_t sharing, double lost, double apart = 0) {
        std::vector<double> losses(sms, apart);
        std::fill_n(losses.begin(), sharing, lost);
        return losses;
    }
    void clusters_are_known() {
        findings.add(decided("clock.scope", std::string("gpc"), {"test", 1}));
        findings.add(decided("topology.sms_per_gpc", std::int64_t{18}, {"test", 1}));
    }

    testing::ScriptedDevice device;
    Findings findings;
};

TEST_F(ScopeReport, EvictionsByABlockOnTheSameSmAreTheReference) {
    // A policy that keeps what is used loses a third; beside that, a tenth of it is nothing.
    const auto kept = scope_of(losses_of(8, 2, 0.33, 0.03));
    EXPECT_EQ(kept.value, results::Value(std::string("tpc")));
    EXPECT_THAT(kept.note, HasSubstr("0, 1"));
    EXPECT_THAT(kept.note, HasSubstr("33%"));
    EXPECT_EQ(scope_of(losses_of(8, 1, 0.9, 0.1)).value, results::Value(std::string("sm")));
    EXPECT_EQ(scope_of(losses_of(8, 8, 0.4)).value, results::Value(std::string("gpu")));
}

TEST_F(ScopeReport, StaysOpenWhereTheSameSmEvictsNothingOrOthersEvictHalf) {
    EXPECT_EQ(scope_of(losses_of(8, 0, 0)).knowledge, results::Knowledge::undecided);
    EXPECT_EQ(scope_of(losses_of(8, 8, 0.1)).knowledge, results::Knowledge::undecided);
    auto unclear = losses_of(8, 2, 0.8);
    unclear[5] = 0.3;
    EXPECT_EQ(scope_of(unclear).knowledge, results::Knowledge::undecided);
}

TEST_F(ScopeReport, SomeTpcsOfAClusterAreNoCluster) {
    EXPECT_EQ(scope_of(losses_of(132, 6, 0.5)).value, results::Value(std::string("gpc")))
        << "nothing is known of clusters";
    clusters_are_known();
    EXPECT_EQ(scope_of(losses_of(132, 6, 0.5)).value, results::Value(std::string("cpc")));
    EXPECT_EQ(scope_of(losses_of(132, 16, 0.5)).value, results::Value(std::string("gpc")));
    EXPECT_EQ(scope_of(losses_of(132, 2, 0.5)).value, results::Value(std::string("tpc")));
}

TEST_F(ScopeReport, NamesTheBlockThatLosesItsData) {
    Sharing sharing{{{0, 1.0}, {1, 0.0}, {2, 0.02}}, true};
    device.attributes[device::Attribute::multiprocessor_count] = 3;
    Outcome outcome;
    report_scope({.device = device, .findings = findings}, "caches.c.scope", sharing, "competition", outcome);
    EXPECT_EQ(outcome.estimates[0].value, results::Value(std::string("sm")));
    EXPECT_THAT(outcome.estimates[0].note, HasSubstr("lacks 100% of the lines that it alone holds"));
}

TEST(Sharing, EvictionsByOneOfSeveralWarpsMakeTheScopeAScheduler) {
    Outcome outcome;
    EXPECT_TRUE(report_scheduler("caches.c.scope", {{{0, 0.01}, {1, 0}, {2, 0.02}, {3, 0.9}}}, "warps", outcome));
    ASSERT_EQ(outcome.estimates.size(), 1U);
    EXPECT_EQ(outcome.estimates[0].value, results::Value(std::string("scheduler")));
    EXPECT_THAT(outcome.estimates[0].note, HasSubstr("one evicts 90% of the first one's lines, the others at most 2%"));
    // Two of four, all, none, an unclear one, and a single warp decide nothing.
    for (const auto& losses : std::vector<std::vector<double>>{
             {0.9, 0, 0.9, 0}, {0.9, 0.9, 0.9, 0.9}, {0.1, 0, 0, 0}, {0.9, 0.4, 0, 0}, {0.9}}) {
        Sharing warps;
        for (std::uint32_t warp = 0; warp < losses.size(); ++warp) warps.losses.push_back({warp, losses[warp]});
        EXPECT_FALSE(report_scheduler("caches.c.scope", warps, "warps", outcome));
        EXPECT_EQ(warps.any_takes(), losses.front() > 0.5);
    }
    EXPECT_EQ(outcome.estimates.size(), 1U);
    EXPECT_EQ((Sharing{{{0, 0.1}, {2, 0.7}, {1, 0.3}}}).most_taking(), 2U);
    EXPECT_EQ(Sharing{}.most_taking(), 0U);
}

TEST(Sharing, BothArraysTogetherExceedTheCapacity) {
    const Footprints known(1000, 1000), open(1000, 4000);
    EXPECT_EQ(known.own, 750U);
    EXPECT_EQ(known.together, 1500U);
    EXPECT_EQ(open.own, 750U);
    EXPECT_EQ(open.together, 4500U);
}

TEST(Sharing, NamesSmsThatShareAndThoseLeftUndecided) {
    const Sharing sharing{{{0, 0.5}, {1, 0.48}, {2, 0.01}, {3, 0.2}}};
    const auto found = sharing.sharers();
    EXPECT_THAT(found.sms, ElementsAre(0, 1));
    EXPECT_THAT(found.unclear, ElementsAre(3));
    EXPECT_DOUBLE_EQ(found.loss_apart, 0.01);
    EXPECT_FALSE(found.decided());
    EXPECT_THAT(Sharing{}.sharers().sms, IsEmpty());
}

}  // namespace
}  // namespace gputomo::experiments
