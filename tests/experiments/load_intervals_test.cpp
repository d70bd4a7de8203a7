// How often simulated SMs take loads of constants and textures, as their descriptions say it.
#include "experiments/experiments.hpp"
#include "machine/json.hpp"
#include "quiet_context.hpp"
#include "sim/completion.hpp"
#include "sim/simulator.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <variant>

namespace gputomo::experiments::of_load_intervals {
namespace {

Outcome outcome_of(const machine::Machine& machine) {
    const auto gpu = sim::make_device(machine, {.id = "sim", .seed = 1});
    const Findings none;
    Context context = quiet_context(*gpu, none, true);
    return load_intervals_experiment().run(context);
}

machine::Machine maxwell() {
    auto machine = machine::load(std::string(GPUTOMO_SOURCE_DIR) + "/machines/gtx980.json");
    machine.topology.sms.set(2);
    return sim::completed(machine).machine;
}

/// NaN where it is not decided.
double decided(const Outcome& outcome, std::string_view path) {
    const auto found = std::ranges::find(outcome.estimates, path, &results::Estimate::path);
    if (found == outcome.estimates.end()) return std::nan("");
    EXPECT_EQ(found->knowledge, results::Knowledge::known) << path << ": " << found->note;
    if (found->knowledge != results::Knowledge::known) return std::nan("");
    return std::get<double>(found->value);
}

TEST(LoadIntervals, OfConstantsAndTexturesComeBack) {
    auto machine = maxwell();
    machine.paths.at("constant").access_interval.set(5.0);
    machine.paths.at("constant").transaction_interval.set(2.5);
    machine.paths.at("constant").transaction_cost.set(12.0);
    machine.paths.at("texture").access_interval.set(20.0);
    machine.paths.at("texture").transaction_interval.set(1.5);
    const auto outcome = outcome_of(machine);
    EXPECT_NEAR(decided(outcome, "paths.constant.access_interval"), 5, 0.1);
    EXPECT_NEAR(decided(outcome, "paths.constant.transaction_interval"), 2.5, 0.05);
    EXPECT_NEAR(decided(outcome, "paths.constant.transaction_cost"), 12, 0.2);
    EXPECT_NEAR(decided(outcome, "paths.texture.access_interval"), 20, 0.4);
    EXPECT_NEAR(decided(outcome, "paths.texture.transaction_interval"), 1.5, 0.05);
}

TEST(LoadIntervals, StayOpenWhereLoadsWaitForNoOthers) {
    const auto outcome = outcome_of(maxwell());
    for (const char* path : {"paths.constant.access_interval", "paths.constant.transaction_interval",
                             "paths.texture.access_interval", "paths.texture.transaction_interval"}) {
        const auto found = std::ranges::find(outcome.estimates, path, &results::Estimate::path);
        ASSERT_NE(found, outcome.estimates.end()) << path;
        EXPECT_EQ(found->knowledge, results::Knowledge::undecided) << path;
        EXPECT_NE(found->note.find("at most"), std::string::npos) << found->note;
    }
}

TEST(LoadIntervals, OfGlobalLoadsNeedACacheOfTheSm) {
    const auto outcome = outcome_of(maxwell());
    for (const auto& estimate : outcome.estimates) EXPECT_EQ(estimate.path.find("paths.global"), std::string::npos);
}

}  // namespace
}  // namespace gputomo::experiments::of_load_intervals
