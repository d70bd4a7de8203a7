// The thread-latency experiment on the simulated GPUs of Lashgar 2015: what the paper says comes back from the shape of
// the data.
#include "experiments/experiments.hpp"
#include "experiments/outstanding/surface.hpp"
#include "machine/json.hpp"
#include "quiet_context.hpp"
#include "sim/simulator.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace gputomo::experiments::of_outstanding {
namespace {

Outcome outstanding_of(const machine::Machine& machine, bool quick = false) {
    const auto device = sim::make_device(machine, {.id = "sim:test"});
    const Findings none;
    Context context = quiet_context(*device, none, quick);
    return outstanding_experiment().run(context);
}

Outcome outstanding_of(const std::string& machine) {
    return outstanding_of(machine::load(GPUTOMO_SOURCE_DIR "/machines/" + machine + ".json"));
}

const results::Estimate& estimate(const Outcome& outcome, std::string_view path) {
    const auto found = std::ranges::find(outcome.estimates, path, &results::Estimate::path);
    EXPECT_NE(found, outcome.estimates.end()) << path;
    return *found;
}

/// Threads after which the latency of a plot first rises by a large part of the plot's largest variance.
double first_spike(const Outcome& outcome, std::string_view plot) {
    const auto trace = std::ranges::find(outcome.traces, plot, &results::Trace::name);
    EXPECT_NE(trace, outcome.traces.end()) << plot;
    const auto& variance = trace->columns[2].values;
    const double largest = *std::ranges::max_element(variance);
    const auto spike = std::ranges::find_if(variance, [&](double v) { return v >= 0.5 * largest; });
    return trace->columns[0].values[static_cast<std::size_t>(spike - variance.begin())];
}

double largest_variance(const Outcome& outcome, std::string_view plot) {
    return *std::ranges::max_element(std::ranges::find(outcome.traces, plot, &results::Trace::name)->columns[2].values);
}

TEST(SimulatedM2070, HasStatusHoldingRegistersAndTheSpikesOfTheFigures) {
    const auto outcome = outstanding_of("m2070");
    EXPECT_EQ(std::get<std::string>(estimate(outcome, "caches.l1.outstanding_design").value), "mshr");
    EXPECT_EQ(std::get<std::int64_t>(estimate(outcome, "caches.l1.outstanding_entries").value), 128);
    EXPECT_EQ(std::get<std::int64_t>(estimate(outcome, "caches.l1.outstanding_merge").value), 8);
    EXPECT_EQ(std::get<std::int64_t>(estimate(outcome, "issue.scoreboard_loads").value), 4);
    EXPECT_EQ(first_spike(outcome, "outstanding/unique_x1"), 128) << "Figs. 1 and 3";
    EXPECT_EQ(first_spike(outcome, "outstanding/unique_x2"), 64) << "Fig. 4";
    EXPECT_EQ(first_spike(outcome, "outstanding/merger2_x1"), 256) << "Fig. 5";
    EXPECT_EQ(first_spike(outcome, "outstanding/merger4_x2"), 256) << "Fig. 6";
    EXPECT_EQ(first_spike(outcome, "outstanding/merger8_x4"), 256) << "Fig. 7";
    EXPECT_LT(largest_variance(outcome, "outstanding/merger32_x4"),
              0.1 * largest_variance(outcome, "outstanding/merger8_x4"))
        << "no spike";
}

TEST(SimulatedK20, HasAPendingRequestTableAndTheSpikesOfTheFigures) {
    const auto outcome = outstanding_of("k20");
    EXPECT_EQ(std::get<std::string>(estimate(outcome, "paths.global.outstanding_design").value), "prt");
    const auto& entries = estimate(outcome, "paths.global.outstanding_entries");
    ASSERT_TRUE(entries.interval.has_value());
    EXPECT_GE((*entries.interval)[0], 42);
    EXPECT_LE((*entries.interval)[1], 45);
    EXPECT_EQ(std::get<std::int64_t>(estimate(outcome, "issue.scoreboard_loads").value), 3);
    EXPECT_NEAR(first_spike(outcome, "outstanding/unique_x2"), 680, 8) << "Fig. 9";
    EXPECT_NEAR(first_spike(outcome, "outstanding/unique_x3"), 454, 8) << "Fig. 10";
    EXPECT_LT(largest_variance(outcome, "outstanding/unique_x1"),
              0.01 * largest_variance(outcome, "outstanding/unique_x2"))
        << "Fig. 8: none";
}

/// Without a table nothing is decided, and the estimates report how many lines and loads were in flight at once. The
/// first pass over the array used to read beyond it where the L2 is smaller than what a block reads at once.
TEST(SimulatedM2070, WithoutATableAndWithASmallL2ReportsTheMostLinesInFlight) {
    auto machine = machine::load(GPUTOMO_SOURCE_DIR "/machines/m2070.json");
    auto& l2 = machine.caches.at("l2");
    l2.capacity.set(128 << 10);
    l2.sets.set(*l2.capacity / (*l2.line * *l2.ways));
    auto& l1 = machine.caches.at("l1");
    l1.outstanding_design = {}, l1.outstanding_entries = {}, l1.outstanding_merge = {};
    machine.issue.scoreboard_loads = {};
    const auto outcome = outstanding_of(machine, true);
    EXPECT_EQ(estimate(outcome, "caches.l1.outstanding_design").knowledge, results::Knowledge::undecided);
    EXPECT_EQ(estimate(outcome, "issue.scoreboard_loads").knowledge, results::Knowledge::undecided);
    EXPECT_GE(std::get<std::int64_t>(estimate(outcome, "caches.l1.outstanding_at_least").value), 64);
    EXPECT_GE(std::get<std::int64_t>(estimate(outcome, "issue.scoreboard_at_least").value), 8);
}

TEST(NeighbourVariance, IsUnbiasedOverThreePoints) {
    EXPECT_EQ(neighbour_variance({1, 1, 4, 4}), (std::vector<double>{0, 3, 3, 0}));
}

}  // namespace
}  // namespace gputomo::experiments::of_outstanding
