// Rates of SMs whose loops cost more than those of a GTX 280.
#include "experiments/experiment.hpp"
#include "machine/json.hpp"
#include "quiet_context.hpp"
#include "sim/simulator.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace gputomo::experiments {
namespace {

/// Four schedulers, each with lanes for a whole warp, and four warps, which cover the 4 cycles of an addition but not a
/// branch besides.
machine::Machine with_long_branches(std::int64_t cycles) {
    auto machine = machine::load(GPUTOMO_SOURCE_DIR "/machines/gtx280.json");
    machine.topology.max_threads_per_block.set(512);
    machine.issue.schedulers_per_sm.set(4);
    machine.issue.issue_interval.set(1);
    machine.issue.branch_latency_taken.set(cycles);
    machine.pipelines["sp"].lanes.set(128);
    machine.operations.clear();
    auto& add = machine.operations["add.s32"];
    add.latency.set(4);
    add.throughput.set(128);
    add.instructions.set(1);
    add.units.set({"sp"});
    return machine;
}

TEST(ArithmeticThroughput, IsFreeOfBranchesThatTooFewWarpsHide) {
    const auto device = sim::make_device(with_long_branches(28), {.id = "sim:test"});
    const Findings before;
    Context context = quiet_context(*device, before, true);
    const auto rows = catalogue();
    const auto outcome = std::ranges::find(rows, "arithmetic_throughput", &Experiment::id)->run(context);
    const auto rate = std::ranges::find(outcome.estimates, "operations[add.s32].throughput", &results::Estimate::path);
    ASSERT_NE(rate, outcome.estimates.end());
    EXPECT_NEAR(std::get<double>(rate->value), 128, 0.2);
}

}  // namespace
}  // namespace gputomo::experiments
