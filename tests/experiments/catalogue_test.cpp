#include "../measure/scripted_device.hpp"

#include "experiments/clock/clock_watch.hpp"
#include "experiments/experiment.hpp"
#include "quiet_context.hpp"
#include "results/estimates.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>

namespace gputomo::experiments {
namespace {

TEST(CatalogueTest, IdsAreUniqueAndNeedsExist) {
    std::set<std::string_view> ids;
    for (const auto& experiment : catalogue()) EXPECT_TRUE(ids.insert(experiment.id).second) << experiment.id;
    for (const auto& experiment : catalogue())
        for (const auto& need : experiment.needs) EXPECT_TRUE(ids.contains(need)) << experiment.id << " needs " << need;
}

TEST(CatalogueTest, EveryExperimentHasATitleASourceAndLeavesItProvides) {
    for (const auto& experiment : catalogue()) {
        EXPECT_FALSE(experiment.title.empty());
        EXPECT_FALSE(experiment.source.empty());
        EXPECT_TRUE(!experiment.provides.empty() || experiment.part_of_scan == PartOfScan::on_request)
            << experiment.id;  // such a one may measure for its plots alone
        EXPECT_NE(experiment.run, nullptr);
    }
}

TEST(CatalogueTest, EveryExperimentIsExplainedInSentencesAndNamesItsMethodPage) {
    for (const auto& experiment : catalogue()) {
        EXPECT_GT(experiment.explanation.size(), 40U) << experiment.id;
        EXPECT_TRUE(experiment.explanation.ends_with('.')) << experiment.id;
        const auto page = fmt::format("{}/docs/methods/{}.md", GPUTOMO_SOURCE_DIR, experiment.method);
        EXPECT_TRUE(std::filesystem::exists(page)) << experiment.id << ": no " << page;
    }
}

TEST(CatalogueTest, TheFileOfEveryExperimentIsTheOneThatHasItsRow) {
    for (const auto& experiment : catalogue()) {
        const std::string path(experiment.file());
        EXPECT_TRUE(path.starts_with("src/experiments/")) << path;
        std::ifstream file(GPUTOMO_SOURCE_DIR "/" + path);
        const std::string text{std::istreambuf_iterator<char>(file), {}};
        EXPECT_NE(text.find(".id = \"" + std::string(experiment.id) + "\""), std::string::npos) << path;
    }
}

TEST(EstimatesTest, SummariesAreMedianSmallestAndLargest) {
    const auto odd = summarise(std::array{5.0, 1.0, 3.0});
    EXPECT_EQ(odd.value, 3);
    EXPECT_EQ(odd.low, 1);
    EXPECT_EQ(odd.high, 5);
    EXPECT_EQ(summarise(std::array{4.0, 1.0, 2.0, 8.0}).value, 3);
    EXPECT_THROW((void)summarise(std::span<const double>{}), std::logic_error);
}

TEST(EstimatesTest, AMedianInTheMiddleOfTwoIntegersDecidesNeither) {
    const auto near = decided_integer("x", {24.1, 24, 24.3}, {"m", 0.9});
    EXPECT_EQ(near.knowledge, results::Knowledge::known);
    EXPECT_EQ(std::get<std::int64_t>(near.value), 24);
    const auto middle = decided_integer("x", {24.5, 24, 25}, {"m", 0.9});
    EXPECT_EQ(middle.knowledge, results::Knowledge::undecided);
    EXPECT_EQ(middle.candidates.size(), 2U);
}

TEST(FindingsTest, OnlyDecidedNumbersAreNumbers) {
    Findings findings;
    findings.add(decided("a", std::int64_t{7}, {"m", 1}));
    findings.add(absent("b", {"m", 1}));
    findings.add(undecided("c", {std::int64_t{1}, std::int64_t{2}}, {"m", 1}));
    EXPECT_EQ(findings.number("a"), 7);
    EXPECT_EQ(findings.number("b"), std::nullopt);
    EXPECT_EQ(findings.number("c"), std::nullopt);
    EXPECT_EQ(findings.number("d"), std::nullopt);
}

/// Counts runs, and lets the clock move during as many of them as asked.
struct Disturbed {
    static inline int runs = 0;
    static inline int moves = 0;
    static Outcome measure(Context& context) {
        auto& device = dynamic_cast<testing::ScriptedDevice&>(context.device);
        if (runs++ < moves) device.state.sm_mhz = *device.state.sm_mhz + 300;
        return {};
    }
};

TEST(ClockWatchTest, AMeasurementDuringWhichTheClockMovedIsRepeatedOnce) {
    for (const int moves : {0, 1, 2}) {
        testing::ScriptedDevice device;
        device.state.sm_mhz = 1000;
        const Findings findings;
        Context context = quiet_context(device, findings);
        Disturbed::runs = 0;
        Disturbed::moves = moves;
        const auto outcome = watched(context, Disturbed::measure);
        EXPECT_EQ(Disturbed::runs, moves == 0 ? 1 : 2);
        EXPECT_EQ(outcome.warnings.size(), moves == 2 ? 1U : 0U);
    }
}

}  // namespace
}  // namespace gputomo::experiments
