// Queueing models of outstanding loads: what they predict, and that the model which made a surface is found again.
#include "deduce/in_flight/outstanding_bound.hpp"
#include "deduce/in_flight/outstanding_fit.hpp"
#include "deduce/in_flight/outstanding_steps.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <vector>

namespace gputomo::deduce {
namespace {

TEST(OutstandingModelTest, FullTableDelaysTheFirstRequestBeyondItByOneLatency) {
    const OutstandingModel model{
        .unit = OutstandingUnit::lines, .entries = 128, .latency = 300, .spacing = 0, .issue = 0, .gap = 0};
    EXPECT_DOUBLE_EQ(model.predict({.threads = 128}), 300);
    EXPECT_DOUBLE_EQ(model.predict({.threads = 129}), 600);
    EXPECT_DOUBLE_EQ(model.predict({.threads = 257}), 900);
    EXPECT_DOUBLE_EQ(model.predict({.threads = 256, .threads_per_line = 2}), 300);
    EXPECT_DOUBLE_EQ(model.predict({.threads = 64, .loads = 2}), 300);
    EXPECT_DOUBLE_EQ(model.predict({.threads = 66, .loads = 2}), 600);
}

TEST(OutstandingModelTest, PendingRequestTableCountsInstructions) {
    const OutstandingModel model{
        .unit = OutstandingUnit::instructions, .entries = 42, .latency = 300, .spacing = 0, .issue = 0, .gap = 0};
    EXPECT_DOUBLE_EQ(model.predict({.threads = 1024}), 300);
    EXPECT_DOUBLE_EQ(model.predict({.threads = 672, .loads = 2}), 300);
    EXPECT_DOUBLE_EQ(model.predict({.threads = 674, .loads = 2}), 600)
        << "Lashgar 2015, Fig. 9: one thread of the 22nd warp is enough";
    EXPECT_DOUBLE_EQ(model.predict({.threads = 450, .loads = 3}), 600) << "Fig. 10";
}

TEST(OutstandingModelTest, WarpAtItsLimitWaitsForItsOldestLoad) {
    const OutstandingModel model{.warp_loads = 4, .latency = 300, .spacing = 0, .issue = 0, .gap = 0};
    EXPECT_DOUBLE_EQ(model.predict({.threads = 64, .loads = 4}), 300);
    EXPECT_DOUBLE_EQ(model.predict({.threads = 64, .loads = 5}), 600);
}

std::vector<OutstandingPoint> surface_of(const OutstandingModel& model, int most_loads) {
    std::vector<OutstandingPoint> points;
    for (int loads = 1; loads <= most_loads; ++loads)
        for (const auto& [share, sectors, lanes] :
             {std::array{1, 1, 32}, {4, 1, 32}, {32, 1, 32}, {4, 4, 32}, {1, 1, 8}})
            for (int threads = 32; threads <= 1024; threads += 32) {
                const OutstandingLaunch launch{threads, loads, share, sectors, lanes};
                points.push_back({launch, model.predict(launch)});
            }
    return points;
}

TEST(OutstandingBoundTest, OneLatencyProvesThatAllWereInFlight) {
    const OutstandingPoint points[] = {{{.threads = 32, .threads_per_line = 32}, 310},
                                       {{.threads = 32, .loads = 29, .threads_per_line = 32}, 590},
                                       {{.threads = 32, .loads = 30, .threads_per_line = 32}, 620}};
    EXPECT_EQ(outstanding_bound(points, OutstandingUnit::lines, 300).proven, 29)
        << "the last of 29 cannot have waited for another's end; of 30 it can";
    EXPECT_EQ(outstanding_bound(points, OutstandingUnit::lines, 300).issued, 30) << "of the largest launch";
    EXPECT_EQ(outstanding_bound({}, OutstandingUnit::lines, 300).proven, 0);
}

TEST(OutstandingBoundTest, LittlesLawGivesWhatTheServerKeepsInFlight) {
    const OutstandingModel server{.overhead = 40, .latency = 300, .spacing = 0, .issue = 0, .gap = 0, .service = 1.25};
    const auto bound = outstanding_bound(surface_of(server, 2), OutstandingUnit::lines, 300);
    EXPECT_NEAR(bound.by_rate, 300 / 1.25, 1);
    EXPECT_LE(bound.proven, 240);
    EXPECT_GE(bound.proven, 200);
}

/// The proven bound never exceeds the table, whatever fills up first. The estimate by rate, which averages over the
/// table's steps, may exceed it by a quarter.
TEST(OutstandingBoundTest, NeverExceedsATable) {
    for (int seed = 1; seed <= 40; ++seed) {
        const OutstandingModel model{.unit = seed % 2 == 0 ? OutstandingUnit::lines : OutstandingUnit::instructions,
                                     .entries = 8 + 37 * seed % 200,
                                     .overhead = 10.0 + seed,
                                     .latency = 150.0 + 17 * seed,
                                     .spacing = 0.1 * (seed % 7),
                                     .issue = 0.3 * (seed % 5),
                                     .gap = 2.0 * (seed % 3),
                                     .service = 0.2 * (seed % 4)};
        const auto bound = outstanding_bound(surface_of(model, 2), model.unit, model.latency);
        EXPECT_LE(bound.proven, model.entries) << seed;
        EXPECT_LE(bound.by_rate, 1.25 * model.entries) << seed;
    }
}

struct Case {
    OutstandingUnit unit;
    int entries;
};

class FittedSurface : public testing::TestWithParam<Case> {};

TEST_P(FittedSurface, FindsTheUnitAndSizeOfTheTable) {
    const OutstandingModel truth{.unit = GetParam().unit,
                                 .entries = GetParam().entries,
                                 .overhead = 90,
                                 .latency = 310,
                                 .spacing = 1,
                                 .issue = 0.7,
                                 .gap = 5};
    const auto fits = fit_outstanding(surface_of(truth, 3), 0);
    EXPECT_EQ(fits.front().model.unit, truth.unit) << name_of(fits.front().model.unit);
    EXPECT_NEAR(fits.front().model.entries, truth.entries, 0.04 * truth.entries);
    EXPECT_LT(fits.front().error * 2, fits[1].error);
}

INSTANTIATE_TEST_SUITE_P(Units, FittedSurface,
                         testing::Values(Case{OutstandingUnit::lines, 71}, Case{OutstandingUnit::lines, 330},
                                         Case{OutstandingUnit::instructions, 37}, Case{OutstandingUnit::sectors, 205},
                                         Case{OutstandingUnit::threads, 500}));

TEST(FitOutstanding, ModelWithoutATableExplainsASurfaceWithoutOne) {
    const OutstandingModel truth{.overhead = 50, .latency = 400, .spacing = 1, .issue = 1, .gap = 4, .service = 0.3};
    const auto fits = fit_outstanding(surface_of(truth, 2), 0);
    const auto none = std::ranges::find(fits, OutstandingUnit::none, [](const auto& fit) { return fit.model.unit; });
    EXPECT_LT(none->error, 0.02);
}

TEST(FitWarpLoads, FindsTheLimitOfAWarp) {
    for (const int limit : {2, 7, 40}) {
        std::vector<OutstandingPoint> points;
        const OutstandingModel truth{.warp_loads = limit, .overhead = 70, .latency = 420, .gap = 5};
        for (int loads = 1; loads <= 64; ++loads)
            points.push_back({{.threads = 32, .loads = loads, .threads_per_line = 32},
                              truth.predict({.threads = 32, .loads = loads, .threads_per_line = 32})});
        EXPECT_EQ(fit_warp_loads(points).limit, limit);
    }
}

TEST(FitWarpLoads, SurvivesOutliersAndFindsNoLimitInALine) {
    std::vector<OutstandingPoint> points;
    const OutstandingModel truth{.warp_loads = 11, .overhead = 70, .latency = 420, .gap = 5};
    for (int loads = 1; loads <= 64; ++loads)
        points.push_back({{.threads = 32, .loads = loads, .threads_per_line = 32},
                          truth.predict({.threads = 32, .loads = loads, .threads_per_line = 32})});
    points[40].cycles += 2000;
    points[7].cycles += 2000;
    EXPECT_EQ(fit_warp_loads(points).limit, 11);
    for (auto& point : points) point.cycles = 300 + 8 * point.launch.loads + point.launch.loads % 5;
    EXPECT_EQ(fit_warp_loads(points).limit, 0);
}

/// In the unit that the table counts, all curves step at the same number, even if one launch in twenty is an outlier.
TEST(StepVotes, FavourTheUnitThatTheTableCounts) {
    for (const auto& [unit, entries] :
         {std::pair{OutstandingUnit::lines, 71}, std::pair{OutstandingUnit::instructions, 37},
          std::pair{OutstandingUnit::sectors, 205}}) {
        auto points = surface_of({.unit = unit,
                                  .entries = entries,
                                  .overhead = 40,
                                  .latency = 400,
                                  .spacing = 1,
                                  .issue = 1,
                                  .gap = 4,
                                  .load_resume = 1},
                                 4);
        for (std::size_t i = 9; i < points.size(); i += 20) points[i].cycles += 2000;
        const auto votes = step_votes(points);
        EXPECT_EQ(votes.front().unit, unit) << name_of(unit);
        EXPECT_LE(votes.front().least_entries, entries);
        EXPECT_GE(votes.front().most_entries, entries);
    }
}

TEST(FirstStep, IgnoresLinesAndOutliers) {
    const std::vector<double> x{1, 2, 3, 4, 5, 6, 7, 8};
    EXPECT_FALSE(first_step(x, std::vector<double>{100, 110, 120, 130, 140, 150, 160, 170}).has_value());
    EXPECT_FALSE(first_step(x, std::vector<double>{100, 110, 120, 130, 140, 150, 160, 2170}).has_value())
        << "the last value is an outlier";
    const auto step = first_step(x, std::vector<double>{100, 110, 2120, 130, 240, 250, 260, 270});
    ASSERT_TRUE(step.has_value());
    EXPECT_EQ(step->last_before, 4);
    EXPECT_EQ(step->first_after, 5);
}

}  // namespace
}  // namespace gputomo::deduce
