// Completing a description that lacks leaves which simulation needs.
#include "machines.hpp"

#include "sim/completion.hpp"
#include "sim/ignored_leaves.hpp"
#include "sim/simulator.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gputomo::sim {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using ::testing::Not;

template <class T>
void forget(machine::Field<T>& field) {
    field = {};
}

/// A description as a scan of a GPU with an L1, an L2 and a TLB leaves it.
machine::Machine scanned() {
    auto machine = small_machine();
    forget(machine.issue.schedulers_per_sm);
    machine.pipelines["sp"].lanes.set(128);
    auto& l1 = machine.caches["l1"];
    l1.latency.set(30);
    l1.sector.set(32);
    l1.capacity.knowledge = machine::Knowledge::undecided;
    l1.capacity.provenance.interval = {{20000, 24000}};
    auto& l2 = machine.caches["l2"];
    l2.latency.set(200);
    l2.capacity.set(262144);
    l2.line.set(64);
    auto& tlb = machine.tlbs["global_l1"];
    tlb.miss_penalty.set(50);
    tlb.reach.knowledge = machine::Knowledge::undecided;
    tlb.reach.candidates = {64 << 20, 128 << 20};
    machine.paths["global"].caches.set({"l1", "l2"});
    machine.paths["global"].tlbs.set({"global_l1"});
    return machine;
}

TEST(Completion, LeavesACompleteDescriptionUnchanged) {
    auto machine = small_machine();
    machine.paths["texture"] = machine.paths["constant"] = machine.paths["global"];
    EXPECT_THAT(completed(machine).assumed, IsEmpty());
}

TEST(Completion, MakesAnIncompleteScanFitForSimulation) {
    EXPECT_ANY_THROW((void)make_device(scanned(), {}));
    const auto [machine, assumed] = completed(scanned());
    EXPECT_NO_THROW((void)make_device(machine, {}));
    const auto& l1 = machine.caches.at("l1");
    EXPECT_EQ(*l1.scope, "sm");
    EXPECT_EQ(*l1.line, 128);
    EXPECT_EQ(*l1.capacity, 18432) << "the most of 20000 bytes that 16 ways of whole lines make";
    EXPECT_EQ(*machine.caches.at("l2").scope, "gpu");
    EXPECT_EQ(*machine.tlbs.at("global_l1").entries, 32) << "the first candidate, of entries of 2 MiB";
    EXPECT_EQ(*machine.issue.schedulers_per_sm, 4);
    EXPECT_THAT(assumed, Contains("caches.l1.scope = sm"));
    EXPECT_THAT(assumed, Contains("paths.texture as paths.global"));
}

TEST(Completion, AssumesWhatNoExperimentFindsOnGpusSinceVolta) {
    auto machine = scanned();
    machine.accesses["l2_store"].bytes_per_cycle.set(100);
    EXPECT_FALSE(completed(machine).machine.issue.store_queue);
    machine.identity.compute_capability_major.set(8);
    const auto [found, assumed] = completed(machine);
    EXPECT_EQ(*found.accesses.at("l2_store").partial_cost, 2.2);
    EXPECT_THAT(assumed, IsSupersetOf({"issue.store_queue = 1000", "shared.paired_reads = true",
                                       "paths.global.store_interval = 1", "paths.global.partial_interval = 1",
                                       "paths.global.transaction_interval = 1",
                                       "accesses.l2_store.partial_cost = 2.2"}));
    machine.issue.store_queue.set(500);
    EXPECT_THAT(completed(machine).assumed, Not(Contains("issue.store_queue = 500")));
}

TEST(Completion, NamesLeavesThatCannotBeUsedBesideOthers) {
    auto machine = small_machine();
    auto& l2 = machine.caches["l2"];
    l2.latency.set(200), l2.far_latency.set(220), l2.latency_range.set({190, 230});
    machine.shared.access_group.set(32);
    machine.shared.warp_latency.set(40);
    machine.paths["global"].warp_latency.set(500), machine.paths["global"].transaction_cost.set(5);
    machine.paths["local"] = machine.paths["global"];
    EXPECT_THAT(ignored_leaves(machine),
                ElementsAre("caches.l2.latency_range ignored beside caches.l2.far_latency",
                            "shared.warp_latency ignored, because a whole warp is one shared.access_group",
                            "paths.local.warp_latency ignored, because only the path global has one",
                            "paths.local.transaction_cost ignored, because only the path global has one"));
    EXPECT_THAT(completed(machine).assumed, IsSupersetOf(ignored_leaves(machine)));
    l2.latency_range = {};
    machine.shared.access_group.set(16);
    machine.paths.erase("local");
    EXPECT_THAT(ignored_leaves(machine), IsEmpty());
}

TEST(Completion, NeverChangesKnownValues) {
    auto machine = scanned();
    machine.caches["l1"].scope.set("gpu");
    machine.caches["l1"].policy.set("fifo");
    const auto result = completed(machine).machine;
    EXPECT_EQ(*result.caches.at("l1").scope, "gpu");
    EXPECT_EQ(*result.caches.at("l1").policy, "fifo");
}

TEST(Completion, LeavesLeavesWithoutADefaultToTheSimulatorsError) {
    auto machine = scanned();
    forget(machine.caches["l2"].latency);
    try {
        (void)make_device(completed(machine).machine, {});
        FAIL();
    } catch (const std::exception& e) {
        EXPECT_THAT(e.what(), ::testing::HasSubstr("caches.l2.latency: missing"));
    }
}

}  // namespace
}  // namespace gputomo::sim
