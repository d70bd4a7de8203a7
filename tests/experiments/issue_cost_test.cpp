// Issue slots of special functions and loads, on simulated SMs whose slots are known.
#include "experiments/experiments.hpp"
#include "machine/json.hpp"
#include "quiet_context.hpp"
#include "sim/simulator.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace gputomo::experiments {
namespace {

machine::Machine maxwell() { return machine::load(GPUTOMO_SOURCE_DIR "/machines/gtx980.json"); }

Findings issue_costs(const machine::Machine& machine) {
    const auto device = sim::make_device(machine, {.id = "sim:slots"});
    Findings known, found;
    known.add({.path = "issue.schedulers_per_sm", .value = *machine.issue.schedulers_per_sm, .confidence = 1});
    known.add({.path = "issue.issue_interval", .value = machine.issue.issue_interval.value_or(1), .confidence = 1});
    known.add({.path = "pipelines.sp.latency", .value = *machine.pipelines.at("sp").latency, .confidence = 1});
    Context context = quiet_context(*device, known);
    for (auto& estimate : issue_cost_experiment().run(context).estimates) found.add(estimate);
    return found;
}

TEST(IssueCost, IssueSlotsAreThoseOfTheDescription) {
    auto machine = maxwell();
    machine.pipelines.at("sfu").issue_slots.set(1.5);
    machine.shared.issue_slots.set(3);
    machine.paths.at("global").issue_slots = {};
    const auto found = issue_costs(machine);
    EXPECT_NEAR(found.number("pipelines.sfu.issue_slots").value_or(0), 1.5, 0.1);
    EXPECT_NEAR(found.number("shared.issue_slots").value_or(0), 3, 0.15);
    EXPECT_NEAR(found.number("paths.global.issue_slots").value_or(0), 1, 0.1);  // not described
}

TEST(IssueCost, IssueSlotsOfMaxwellAreThoseOfVolkov2016) {
    const auto found = issue_costs(maxwell());  // Volkov 2016, 4.7 and 4.12
    EXPECT_NEAR(found.number("pipelines.sfu.issue_slots").value_or(0), 2, 0.1);
    EXPECT_NEAR(found.number("shared.issue_slots").value_or(0), 3, 0.15);
    EXPECT_NEAR(found.number("paths.global.issue_slots").value_or(0), 8, 0.4);
}

TEST(IssueCost, ForwardLatenciesAreThoseOfTheDescription) {
    auto machine = maxwell();
    auto found = issue_costs(machine);  // Volkov 2016, 4.7
    EXPECT_EQ(found.number("pipelines.sfu.forward_latency"), 9);
    EXPECT_EQ(found.number("shared.forward_latency"), 22);
    machine.pipelines.at("sfu").forward_latency.set(31);
    machine.shared.forward_latency = {};
    found = issue_costs(machine);
    EXPECT_EQ(found.number("pipelines.sfu.forward_latency"), 31);
    EXPECT_EQ(found.number("shared.forward_latency"), 24);  // of all that waits
    found = issue_costs(machine::load(
        GPUTOMO_SOURCE_DIR "/machines/gtx280.json"));  // one thread's, not those of whole warps, which are 34 and 40
    EXPECT_EQ(found.number("pipelines.sfu.forward_latency"), 28);
    EXPECT_EQ(found.number("shared.forward_latency"), 38);
}

TEST(IssueCost, StaysOpenWhereAddsAloneLeaveIssueSlotsEmpty) {
    const auto found = issue_costs(
        machine::load(GPUTOMO_SOURCE_DIR "/machines/gtx280.json"));  // its SPs take an add every second slot
    EXPECT_EQ(found.find("pipelines.sfu.issue_slots"), nullptr);
    EXPECT_EQ(found.find("shared.issue_slots"), nullptr);
}

}  // namespace
}  // namespace gputomo::experiments
