// What was added by the recipes of docs/adding.md is there without another change.
#include "experiments/experiment.hpp"
#include "exports/exports.hpp"
#include "machine/json.hpp"
#include "models/evaluation.hpp"
#include "scan/plan.hpp"
#include "scan/runner.hpp"
#include "sim/simulator.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace gputomo {
namespace {

machine::Machine gtx980() { return machine::load(GPUTOMO_SOURCE_DIR "/machines/gtx980.json"); }

TEST(Recipes, AModelIsListedSolvedAndJudged) {
    const auto parameters = models::parameters_of(gtx980());
    EXPECT_EQ(models::solve(models::find_model("recipe"), parameters, {4, 1}, 8).instructions_per_cycle, 1);
    const auto judged = models::evaluate(parameters, {{{4, 1}, {{8, 0.5}}}});
    EXPECT_TRUE(std::ranges::any_of(judged, [](const auto& e) { return e.model == "recipe" && e.largest == 2; }));
    EXPECT_GT(models::catalogue().size(), 20U) << "the others are there still";
}

TEST(Recipes, AnExperimentRunsAndFillsTheDescription) {
    const auto device = sim::make_device(gtx980(), {});
    const auto scan = scan::run(*device, scan::plan(experiments::catalogue(), {"recipe"}), {});
    EXPECT_EQ(scan.first_failure(), nullptr);
    const auto described = scan::describe(scan);
    EXPECT_EQ(described.topology.warp_size.value_or(0), 32);
    EXPECT_EQ(described.topology.warp_size.provenance.method, "recipe: device attribute");
}

TEST(Recipes, AGpuIsOneFile) {
    auto machine = gtx980();
    machine.identity.name.set("Recipe 2");
    machine.topology.sms.set(2);
    const auto device = sim::make_device(machine::from_json(machine::to_json(machine)), {});
    EXPECT_EQ(device->name(), "Recipe 2");
    EXPECT_EQ(device->attribute(device::Attribute::multiprocessor_count), 2);
}

TEST(Recipes, AFormatOfExportIsOffered) {
    const auto found = std::ranges::find(exports::catalogue(), "recipe", &exports::Format::name);
    ASSERT_NE(found, exports::catalogue().end());
    EXPECT_EQ(found->text(gtx980()), "GeForce GTX 980\n");
}

}  // namespace
}  // namespace gputomo
