// Loads that diverge on a simulated GPU take what Volkov 2016, 6.7, measured.
#include "experiments/experiments.hpp"
#include "machine/json.hpp"
#include "quiet_context.hpp"
#include "sim/simulator.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace gputomo::experiments {
namespace {

struct Measured {
    double latency = 0, rate = 0, cost = 0;
    std::string plot;           ///< which says what size of array it is about
    std::vector<double> sizes;  ///< rates of arrays that are each twice as large as the one before
    std::int64_t fetched = 0;
};

Measured measured(const machine::Machine& machine) {
    const auto gpu = sim::make_device(machine, {.id = "sim", .seed = 1});
    Findings findings;
    findings.add({.path = "memory.read_bandwidth", .value = *machine.memory.read_bandwidth});
    Context context = quiet_context(*gpu, findings, true);
    const auto outcome = random_access_experiment().run(context);
    Measured found;
    for (const auto& trace : outcome.traces) {
        if (trace.name == "random_access/size") found.sizes = trace.columns.at(1).values;
        if (trace.name != "random_access/occupancy") continue;
        found.rate = std::ranges::max(trace.columns.at(1).values);
        found.latency = trace.columns.at(2).values.front();
        found.plot = trace.plot.title;
    }
    found.cost = std::get<double>(outcome.estimates.at(0).value);
    for (const auto& estimate : outcome.estimates)
        if (estimate.path == "memory.fetch_bytes") found.fetched = std::get<std::int64_t>(estimate.value);
    return found;
}

machine::Machine machine_of(const std::string& name) {
    return machine::load(std::string(GPUTOMO_SOURCE_DIR) + "/machines/" + name + ".json");
}

TEST(RandomAccess, OfAKeplerIsThatOfTables6_1To6_7) {
    const auto kepler = measured(machine_of("gtx680"));
    EXPECT_NEAR(kepler.latency, 1213, 25);
    EXPECT_NEAR(kepler.rate / 4, 0.034, 0.001);
    EXPECT_NEAR(kepler.cost, 33, 1);
    EXPECT_NEAR(static_cast<double>(kepler.fetched), 128, 13) << "a line, however little of it is wanted";
}

// The array is several times the L2, and no larger than needed.
TEST(RandomAccess, OfAMaxwellIsThatOfFig4_3) {
    auto machine = machine_of("gtx980");
    const auto maxwell = measured(machine);
    EXPECT_NEAR(maxwell.rate / 32, 0.0029, 0.00015);
    EXPECT_THAT(maxwell.plot, ::testing::HasSubstr("8 MiB"));
    ASSERT_EQ(maxwell.sizes.size(), 2);
    EXPECT_NEAR(maxwell.sizes[1] / maxwell.sizes[0], 0.95, 0.02);
}

TEST(RandomAccess, ALargerCacheNeedsALargerArray) {
    auto machine = machine_of("gtx980");
    machine.topology.sms.set(2);
    auto& l2 = machine.caches.at("l2");
    l2.capacity.set(4 * *l2.capacity);
    l2.sets.set(4 * *l2.sets);
    EXPECT_THAT(measured(machine).plot, ::testing::HasSubstr("32 MiB"));
}

TEST(RandomAccess, CostIsTheTransactionCostOfTheDescription) {
    auto machine = machine_of("gtx980");
    machine.paths.at("global").transaction_cost.set(11);
    machine.topology.sms.set(2);
    EXPECT_NEAR(measured(machine).cost, 11, 0.5);
}

// Where transactions wait for each other's banks, that is part of what is described.
TEST(RandomAccess, WaitsForBanksAreWithinTheCost) {
    auto g80 = machine_of("8800gtx");
    const auto published = measured(g80);
    EXPECT_NEAR(published.latency, 644, 12);
    EXPECT_NEAR(published.cost, 6.7, 0.2);
    g80.memory.bank_cycles.set(30);
    g80.paths.at("global").transaction_cost.set(9);
    EXPECT_NEAR(measured(g80).cost, 9, 0.3);
}

}  // namespace
}  // namespace gputomo::experiments
