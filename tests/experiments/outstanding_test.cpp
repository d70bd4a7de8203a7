// The thread-latency experiment on the simulated GPUs of Lashgar 2015: what the paper says comes back from the shape of
// the data.
#include "experiments/experiments.hpp"
#include "experiments/outstanding/lower_bound.hpp"
#include "experiments/outstanding/surface.hpp"
#include "machine/json.hpp"
#include "quiet_context.hpp"
#include "sim/simulator.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <limits>
#include <span>
#include <utility>
#include <vector>

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

/// Cycles of 1, 2, 3, ... loads of one warp from memory, of two scans of one H200.
constexpr std::array kFirstScan{787,  771,  785,  823,  587,  618,  801,  601,  605,  822,  635,  684,  646,
                                666,  875,  667,  655,  679,  675,  689,  868,  712,  703,  715,  721,  725,
                                926,  749,  736,  745,  766,  748,  955,  912,  944,  799,  941,  805,  1002,
                                848,  957,  842,  816,  834,  920,  1003, 884,  881,  991,  1067, 1011, 989,
                                1011, 1007, 1081, 1393, 1260, 1421, 1210, 1481, 1642, 1549, 1425, 1439};
constexpr std::array kSecondScan{791, 770,  796,  612,  625,  612,  793,  794,  652,  643,  652,  651, 653,
                                 825, 658,  673,  874,  689,  682,  689,  706,  889,  698,  720,  910, 740,
                                 915, 915,  746,  753,  925,  995,  789,  957,  790,  798,  799,  939, 976,
                                 852, 802,  814,  1000, 1003, 886,  961,  1085, 832,  995,  952,  963, 958,
                                 973, 1057, 1027, 1197, 1240, 1253, 1358, 1470, 1215, 1324, 1598, 1472};

results::Estimate loads_in_flight(std::span<const int> cycles) {
    std::vector<deduce::OutstandingPoint> points;
    for (const int of_launch : cycles)
        points.push_back({{.threads = 32, .loads = static_cast<int>(points.size()) + 1, .threads_per_line = 32},
                          static_cast<double>(of_launch)});
    constexpr double kOverhead = 117;
    const std::vector launches{
        outstanding::launches_of(std::move(points), std::numeric_limits<double>::infinity(), kOverhead)};
    return outstanding::most_in_flight("issue.scoreboard_at_least", launches, deduce::OutstandingUnit::instructions,
                                       "loads");
}

/// The launches prove 48 and 53 loads in flight. Neither interval rules out what the other scan found.
TEST(LoadsInFlight, IntervalsOfTwoScansOverlap) {
    const auto first = loads_in_flight(kFirstScan), second = loads_in_flight(kSecondScan);
    EXPECT_EQ(std::get<std::int64_t>(first.value), 48);
    EXPECT_EQ(std::get<std::int64_t>(second.value), 53);
    for (const auto& [one, other] : {std::pair{first, second}, std::pair{second, first}}) {
        EXPECT_LE((*one.interval)[0], static_cast<double>(outstanding::count_of(one)));
        EXPECT_GE((*one.interval)[1], (*other.interval)[0]);
    }
}

/// A faster load may not have been seen. With its latency, the launch of three loads lasts two latencies.
TEST(LoadsInFlight, TheFastestLoadIsUncertain) {
    const auto estimate = loads_in_flight(std::array{300, 320, 360});
    EXPECT_EQ(std::get<std::int64_t>(estimate.value), 3);
    EXPECT_EQ(*estimate.interval, (std::array{2.0, 3.0}));
}

TEST(NeighbourVariance, IsUnbiasedOverThreePoints) {
    EXPECT_EQ(neighbour_variance({1, 1, 4, 4}), (std::vector<double>{0, 3, 3, 0}));
}

}  // namespace
}  // namespace gputomo::experiments::of_outstanding
