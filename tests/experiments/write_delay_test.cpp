// Reads beside writes on simulated GPUs, whose memory turns at every write and keeps none back.
#include "experiments/experiments.hpp"
#include "machine/json.hpp"
#include "quiet_context.hpp"
#include "sim/simulator.hpp"

#include <gtest/gtest.h>

#include <string>
#include <variant>

namespace gputomo::experiments {
namespace {

Outcome delay_on(const machine::Machine& machine, const Findings& findings) {
    const auto gpu = sim::make_device(machine, {.id = "sim", .seed = 1});
    Context context = quiet_context(*gpu, findings, true);
    return write_delay_experiment().run(context);
}

machine::Machine small_maxwell() {
    auto machine = machine::load(std::string(GPUTOMO_SOURCE_DIR) + "/machines/gtx980.json");
    machine.topology.sms.set(2);
    machine.memory.read_bandwidth.set(*machine.memory.read_bandwidth / 8);
    machine.memory.peak_bandwidth.set(*machine.memory.peak_bandwidth / 8);
    if (machine.memory.copy_bandwidth) machine.memory.copy_bandwidth.set(*machine.memory.copy_bandwidth / 8);
    return machine;
}

TEST(WriteDelay, OfAMemoryThatKeepsNoWritesBackIsSmall) {
    const auto machine = small_maxwell();
    Findings findings;
    findings.add({.path = "memory.read_bandwidth", .value = *machine.memory.read_bandwidth});
    const auto outcome = delay_on(machine, findings);
    const auto& trace = outcome.traces.at(0);
    ASSERT_GE(trace.columns.at(0).values.size(), 5U);
    // An access of four lines and the loop around it.
    EXPECT_GT(trace.columns.at(1).values.front(), *machine.paths.at("global").memory_latency);
    EXPECT_LT(trace.columns.at(1).values.front(), *machine.paths.at("global").memory_latency + 70);
    ASSERT_EQ(outcome.estimates.size(), 1U);
    EXPECT_EQ(outcome.estimates[0].path, "memory.write_delay");
    EXPECT_LT(std::get<double>(outcome.estimates[0].value), 300);
    EXPECT_GE(std::get<double>(outcome.estimates[0].value), 0);
}

TEST(WriteDelay, NamesTheMissingFindings) {
    const auto outcome = delay_on(small_maxwell(), {});
    EXPECT_TRUE(outcome.estimates.empty());
    ASSERT_EQ(outcome.warnings.size(), 1U);
    EXPECT_NE(outcome.warnings[0].find("memory.read_bandwidth"), std::string::npos);
}

}  // namespace
}  // namespace gputomo::experiments
