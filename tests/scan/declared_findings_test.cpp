#include "scan/declared_findings.hpp"

#include "fakes.hpp"
#include "scan/plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

namespace gputomo::scan {
namespace {

using experiments::Experiment;
using ::testing::AllOf;
using testing::decided;
using testing::FakeExperiments;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

Experiment providing(char letter, std::vector<std::string_view> paths, std::vector<std::string_view> needs = {},
                     std::vector<std::string_view> after = {}) {
    auto experiment = FakeExperiments::make(letter, std::move(needs));
    experiment.provides = std::move(paths);
    experiment.after = std::move(after);
    return experiment;
}

Record record(std::string id, std::vector<results::Estimate> estimates) {
    Record made{.id = std::move(id), .status = Status::done};
    made.outcome.estimates = std::move(estimates);
    return made;
}

TEST(DeclaredFindings, GivesWhatAnExperimentDeclaresAlsoThroughOthers) {
    const std::vector catalogue{providing('a', {"shared.latency"}), providing('b', {"shared.banks"}, {"a"}),
                                providing('c', {}, {}, {"b"})};
    const auto plan = plan_of_all(catalogue, measure::Budget::small);
    const std::vector records{record("a", {decided("shared.latency", std::int64_t{38})}),
                              record("b", {decided("shared.banks", std::int64_t{32})})};
    const auto findings = declared_findings(catalogue[2], plan, records);
    EXPECT_EQ(findings.number("shared.latency"), 38);
    EXPECT_EQ(findings.number("shared.banks"), 32);
}

TEST(DeclaredFindings, RefusesAPathThatNoDeclaredExperimentProvides) {
    const std::vector catalogue{providing('a', {"shared.latency"}), providing('b', {"shared.banks"})};
    const auto plan = plan_of_all(catalogue, measure::Budget::small);
    const std::vector records{record("a", {decided("shared.latency", std::int64_t{38})})};
    const auto findings = declared_findings(catalogue[1], plan, records);
    EXPECT_THAT([&] { (void)findings.number("shared.latency"); },
                ThrowsMessage<std::logic_error>(AllOf(HasSubstr("experiment b"), HasSubstr("shared.latency"))));
    EXPECT_EQ(findings.number("shared.banks"), std::nullopt) << "a path of its own may be looked up";
}

TEST(DeclaredFindings, HideTheEstimatesOfUndeclaredExperiments) {
    // Both a and b provide latencies of caches, and c declares a only: what b found must not change what c finds.
    const std::vector catalogue{providing('a', {"caches.*.latency"}), providing('b', {"caches.*.latency"}),
                                providing('c', {}, {"a"})};
    const auto plan = plan_of_all(catalogue, measure::Budget::small);
    const std::vector records{record("a", {decided("caches.l1.latency", std::int64_t{38})}),
                              record("b", {decided("caches.l1.latency", std::int64_t{40}),
                                           decided("caches.texture_l1.latency", std::int64_t{90})})};
    const auto findings = declared_findings(catalogue[2], plan, records);
    EXPECT_EQ(findings.number("caches.l1.latency"), 38);
    EXPECT_EQ(findings.number("caches.texture_l1.latency"), std::nullopt);
}

TEST(DeclaredFindings, AlwaysGiveTheClock) {
    const std::vector catalogue{providing('a', {"clock.resolution"}), providing('b', {})};
    const auto plan = plan_of_all(catalogue, measure::Budget::small);
    const std::vector records{record("a", {decided("clock.resolution", std::int64_t{2})})};
    EXPECT_EQ(declared_findings(catalogue[1], plan, records).number("clock.resolution"), 2);
    EXPECT_EQ(declared_findings(catalogue[1], plan, {}).number("clock.sm_mhz"), std::nullopt);
}

TEST(DeclaredFindings, MatchAStarWithAnyMapKey) {
    const auto experiment = providing('a', {"operations[*].latency", "caches.*.line", "shared.banks"});
    EXPECT_TRUE(provides(experiment, "operations[add.s32].latency"));
    EXPECT_TRUE(provides(experiment, "caches.texture_l1.line"));
    EXPECT_TRUE(provides(experiment, "shared.banks"));
    EXPECT_FALSE(provides(experiment, "caches.l1.lines"));
    EXPECT_FALSE(provides(experiment, "operations[add.s32].throughput"));
    EXPECT_FALSE(provides(experiment, "shared.bank"));
}

TEST(DeclaredFindings, TheRunnerFailsAnExperimentThatReadsWhatItDoesNotDeclare) {
    const FakeExperiments fakes;
    testing::LosableDevice device;
    FakeExperiments::finds('a', {decided("shared.latency", std::int64_t{38})});
    FakeExperiments::body('b', [](experiments::Context& context) {
        (void)context.findings.number("shared.latency");
        return results::Outcome{};
    });
    const std::vector catalogue{providing('a', {"shared.latency"}), providing('b', {})};
    const auto scan = run(device, plan_of_all(catalogue, measure::Budget::small), {});
    EXPECT_EQ(scan.records.at(1).status, Status::failed);
    EXPECT_THAT(scan.records.at(1).error, AllOf(HasSubstr("experiment b"), HasSubstr("shared.latency")));
}

}  // namespace
}  // namespace gputomo::scan
