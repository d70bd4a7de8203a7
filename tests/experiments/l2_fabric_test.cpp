// Rates of reads of DRAM and of stores, alone and together, on simulated GPUs with and without a way that both share.
#include "experiments/experiments.hpp"
#include "machine/json.hpp"
#include "quiet_context.hpp"
#include "sim/simulator.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <variant>

namespace gputomo::experiments {
namespace {

/// A small GPU whose cache has two partitions.
machine::Machine two_partitions() {
    auto machine = machine::load(std::string(GPUTOMO_SOURCE_DIR) + "/machines/gtx980.json");
    machine.topology.sms.set(2);
    machine.memory.read_bandwidth.set(*machine.memory.read_bandwidth / 8);
    machine.memory.peak_bandwidth.set(*machine.memory.peak_bandwidth / 8);
    if (machine.memory.copy_bandwidth) machine.memory.copy_bandwidth.set(*machine.memory.copy_bandwidth / 8);
    auto& stores = machine.accesses["l2_store"];
    stores.bytes_per_cycle.set(32);
    stores.sm_bytes_per_cycle.set(32);
    return machine;
}

Findings partitions(std::int64_t count) {
    Findings findings;
    findings.add({.path = "caches.l2.partitions", .value = count});
    return findings;
}

Outcome fabric_on(const machine::Machine& machine, const Findings& findings) {
    const auto gpu = sim::make_device(machine, {.id = "sim", .seed = 1});
    Context context = quiet_context(*gpu, findings, true);
    return l2_fabric_experiment().run(context);
}

TEST(L2Fabric, RateOfASharedWayComesBack) {
    for (const double rate : {16.0, 22.0}) {
        auto machine = two_partitions();
        machine.caches.at("l2").fabric_bytes_per_cycle.set(rate);
        const auto outcome = fabric_on(machine, partitions(2));
        ASSERT_EQ(outcome.estimates.size(), 1U);
        EXPECT_EQ(outcome.estimates[0].path, "caches.l2.fabric_bytes_per_cycle");
        ASSERT_TRUE(std::holds_alternative<double>(outcome.estimates[0].value));
        EXPECT_NEAR(std::get<double>(outcome.estimates[0].value), rate, 0.05 * rate);
    }
}

TEST(L2Fabric, SeparateWaysAreReportedAsAbsent) {
    const auto outcome = fabric_on(two_partitions(), partitions(2));
    ASSERT_EQ(outcome.estimates.size(), 1U);
    EXPECT_EQ(outcome.estimates[0].knowledge, Knowledge::absent);
}

TEST(L2Fabric, CacheOfOnePartIsNotMeasured) {
    EXPECT_TRUE(fabric_on(two_partitions(), partitions(1)).estimates.empty());
    EXPECT_TRUE(fabric_on(two_partitions(), {}).estimates.empty());
}

}  // namespace
}  // namespace gputomo::experiments
