// How often schedulers issue, on simulated SMs whose units together take more, less or just what is issued.
#include "experiments/experiments.hpp"
#include "machine/json.hpp"
#include "quiet_context.hpp"
#include "sim/simulator.hpp"

#include <gtest/gtest.h>

namespace gputomo::experiments {
namespace {

/// A GeForce 8800 GTX that issues once in `interval` cycles, with units that together take `part` of that.
machine::Machine with_units(double interval, double part) {
    auto machine = machine::load(GPUTOMO_SOURCE_DIR "/machines/8800gtx.json");
    const double as_they_are = 2, scale = part * as_they_are / interval;
    machine.issue.issue_interval.set(interval);
    for (auto& [name, pipeline] : machine.pipelines) pipeline.lanes.set(*pipeline.lanes * scale);
    for (auto& [name, operation] : machine.operations) operation.throughput.set(*operation.throughput * scale);
    machine.shared.bytes_per_cycle.set(*machine.shared.bytes_per_cycle * scale);
    return machine;
}

std::optional<double> interval_of(const machine::Machine& machine) {
    const auto device = sim::make_device(machine, {.id = "sim:issue"});
    Findings nothing, found;
    Context context = quiet_context(*device, nothing, true);
    for (auto& estimate : issue_experiment().run(context).estimates) found.add(estimate);
    return found.number("issue.issue_interval");
}

TEST(IssueInterval, IsFoundWhereUnitsAcceptExactlyTheIssueRate) {
    EXPECT_EQ(interval_of(machine::load(GPUTOMO_SOURCE_DIR "/machines/8800gtx.json")), 2);  // Volkov 2016, Table 2.8
    EXPECT_EQ(interval_of(with_units(3, 1)), 3);
    EXPECT_EQ(interval_of(with_units(1, 1)), 1);
}

TEST(IssueInterval, IsFoundWhereUnitsAcceptMoreThanTheIssueRate) { EXPECT_EQ(interval_of(with_units(4, 1.25)), 4); }

TEST(IssueInterval, IsLeftOpenWhereNothingFillsTheIssueSlots) {
    EXPECT_EQ(interval_of(with_units(2, 0.75)), std::nullopt);
    EXPECT_EQ(interval_of(with_units(1, 0.5)), std::nullopt);   // an 8800 GTX's units
    EXPECT_EQ(interval_of(with_units(3, 0.25)), std::nullopt);  // so slow that they look like an interval of 13
}

}  // namespace
}  // namespace gputomo::experiments
