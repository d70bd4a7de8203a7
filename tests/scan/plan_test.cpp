#include "scan/plan.hpp"

#include "fakes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <stdexcept>

namespace gputomo::scan {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using testing::FakeExperiments;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

std::vector<std::string_view> ids(const std::vector<const experiments::Experiment*>& plan) {
    std::vector<std::string_view> ids;
    for (const auto* experiment : plan) ids.push_back(experiment->id);
    return ids;
}

TEST(Plan, PutsNeedsFirst) {
    const std::array catalogue{FakeExperiments::make('a', {"c", "b"}), FakeExperiments::make('b', {"d"}),
                               FakeExperiments::make('c', {"d"}), FakeExperiments::make('d')};
    EXPECT_THAT(ids(plan_of_all(catalogue, measure::Budget::small)), ElementsAre("d", "c", "b", "a"));
}

TEST(Plan, KeepsTheOrderOfTheCatalogueWithoutNeeds) {
    const std::array catalogue{FakeExperiments::make('c'), FakeExperiments::make('a'), FakeExperiments::make('b')};
    EXPECT_THAT(ids(plan_of_all(catalogue, measure::Budget::small)), ElementsAre("c", "a", "b"));
}

TEST(Plan, ContainsEachSelectedExperimentAndItsNeedsOnce) {
    const std::array catalogue{FakeExperiments::make('a'), FakeExperiments::make('b', {"a"}),
                               FakeExperiments::make('c', {"b"}), FakeExperiments::make('d')};
    EXPECT_THAT(ids(plan(catalogue, {"b"})), ElementsAre("a", "b"));
    EXPECT_THAT(ids(plan(catalogue, {"d", "c", "a", "d"})), ElementsAre("d", "a", "b", "c"));
}

TEST(Plan, NamesTheChoicesForAnUnknownId) {
    const std::array catalogue{FakeExperiments::make('a'), FakeExperiments::make('b')};
    EXPECT_THAT([&] { (void)plan(catalogue, {"clok"}); },
                ThrowsMessage<InputError>(AllOf(HasSubstr("'clok'"), HasSubstr("a, b"))));
    EXPECT_THAT([&] { (void)plan(catalogue, {""}); }, ThrowsMessage<InputError>(HasSubstr("a, b")));
}

TEST(Plan, RefusesCyclesOfNeeds) {
    const std::array pair{FakeExperiments::make('a', {"b"}), FakeExperiments::make('b', {"a"})};
    EXPECT_THROW((void)plan_of_all(pair, measure::Budget::small), std::logic_error);
    const std::array self{FakeExperiments::make('a', {"a"})};
    EXPECT_THROW((void)plan_of_all(self, measure::Budget::small), std::logic_error);
    const std::array aside{FakeExperiments::make('a', {"b"}), FakeExperiments::make('b', {"a"}),
                           FakeExperiments::make('c')};
    EXPECT_THAT(ids(plan(aside, {"c"})), ElementsAre("c"));
}

TEST(Plan, ContainsTheCatalogueExceptExperimentsOnRequest) {
    using enum experiments::PartOfScan;
    for (const auto budget : {measure::Budget::small, measure::Budget::full}) {
        const bool full = budget == measure::Budget::full;
        std::set<std::string_view> before;
        for (const auto* experiment : plan_of_all(experiments::catalogue(), budget)) {
            for (const auto need : experiment->needs)
                EXPECT_TRUE(before.contains(need)) << experiment->id << " runs before " << need;
            EXPECT_TRUE(before.insert(experiment->id).second) << experiment->id;
        }
        for (const auto& experiment : experiments::catalogue()) {
            const bool wanted =
                experiment.part_of_scan == always || (experiment.part_of_scan == with_full_budget && full);
            EXPECT_EQ(before.contains(experiment.id), wanted) << experiment.id;
        }
        EXPECT_EQ(before.contains("random_access"), full);
    }
    EXPECT_EQ(plan(experiments::catalogue(), {"occupancy"}).back()->id, "occupancy");
}

TEST(Plan, AcceptsTheCatalogueInAnyOrder) {
    const auto catalogue = experiments::catalogue();
    const auto in_order = ids(plan_of_all(catalogue, measure::Budget::small));
    const std::set<std::string_view> wanted(in_order.begin(), in_order.end());
    std::mt19937_64 dice(1);
    for (int shuffle = 0; shuffle < 50; ++shuffle) {
        std::vector<experiments::Experiment> shuffled(catalogue.begin(), catalogue.end());
        std::ranges::shuffle(shuffled, dice);
        const auto plan = plan_of_all(shuffled, measure::Budget::small);
        std::set<std::string_view> before;
        for (const auto* experiment : plan) {
            for (const auto* declared : {&experiment->needs, &experiment->after})
                for (const auto id : *declared)
                    EXPECT_TRUE(before.contains(id)) << experiment->id << " runs before " << id;
            before.insert(experiment->id);
        }
        EXPECT_EQ(before, wanted);
        EXPECT_EQ(ids(plan_of_all(shuffled, measure::Budget::small)), ids(plan))
            << "the same catalogue gives the same plan";
        EXPECT_EQ(ids(scan::plan(shuffled, {"tlb"})), ids(scan::plan(catalogue, {"tlb"})))
            << "what one experiment takes does not depend on the order of the catalogue";
    }
}

}  // namespace
}  // namespace gputomo::scan
