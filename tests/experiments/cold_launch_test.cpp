// Experiments on the parts of a cold launch, on simulated GPUs that differ from the H200 they were made on.
#include "experiments/experiment.hpp"
#include "machine/json.hpp"
#include "quiet_context.hpp"
#include "results/estimates.hpp"
#include "results/findings.hpp"
#include "sim/simulator.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace gputomo::experiments::of_cold_launches {
namespace {

machine::Machine gtx980() {
    auto machine = machine::load(GPUTOMO_SOURCE_DIR "/machines/gtx980.json");
    machine.launch.block_interval = {};
    machine.launch.warp_interval = {};
    return machine;
}

Outcome outcome_of(std::string_view id, const machine::Machine& machine, const Findings& findings = {}) {
    const auto device = sim::make_device(machine, {.id = "sim:test", .seed = 3});
    Context context = quiet_context(*device, findings);
    const auto rows = catalogue();
    return std::ranges::find(rows, id, &Experiment::id)->run(context);
}

const results::Estimate* find(const Outcome& outcome, std::string_view path) {
    const auto found = std::ranges::find(outcome.estimates, path, &results::Estimate::path);
    return found == outcome.estimates.end() ? nullptr : &*found;
}

double number(const Outcome& outcome, std::string_view path) {
    const auto* found = find(outcome, path);
    const bool known = found != nullptr && found->knowledge == results::Knowledge::known;
    EXPECT_TRUE(known) << path << " was not decided";
    return known ? results::as_number(found->value).value_or(-1) : -1;
}

TEST(FirstBlocks, FindsBothIntervals) {
    auto machine = gtx980();
    for (const auto& [first, next] : {std::pair(6.0, 24.0), std::pair(15.0, 70.0)}) {
        machine.launch.first_block_interval.set(first);
        machine.launch.next_block_interval.set(next);
        const auto outcome = outcome_of("first_blocks", machine);
        EXPECT_NEAR(number(outcome, "launch.first_block_interval"), first, 0.5);
        EXPECT_NEAR(number(outcome, "launch.next_block_interval"), next, 3);
    }
}

TEST(FirstBlocks, ReportsThatAllStartAtOnce) {
    const auto outcome = outcome_of("first_blocks", gtx980());
    const auto* found = find(outcome, "launch.first_block_interval");
    ASSERT_NE(found, nullptr);
    EXPECT_EQ(found->knowledge, results::Knowledge::absent);
}

/// A GPU with TLBs of 2 MiB pages, near and far, and what a scan finds of them before.
Outcome launches_of_tlbs(bool near_outlasts, bool far_outlasts) {
    auto machine = gtx980();
    const auto tlb = [&](const std::string& key, const char* scope, std::int64_t penalty, bool outlasts) {
        machine::Tlb one;
        one.scope.set(scope);
        one.span.set(2 << 20);
        one.ways.set(16);
        one.sets.set(1);
        one.entries.set(16);
        one.reach.set(std::int64_t{16} << 21);
        one.policy.set("lru");
        one.miss_penalty.set(penalty);
        one.outlasts_launches.set(outlasts);
        machine.tlbs[key] = one;
    };
    machine.tlbs.clear();
    tlb("a", "sm", 40, near_outlasts);
    tlb("b", "gpu", 300, far_outlasts);
    for (auto& [name, path] : machine.paths) path.tlbs = {};
    machine.paths["global"].tlbs.set({"a", "b"});
    Findings findings;
    findings.add(results::decided("paths.global.tlbs", std::vector<std::string>{"a", "b"}, {"given", 1}));
    findings.add(results::decided("tlbs.a.miss_penalty", std::int64_t{40}, {"given", 1}));
    findings.add(results::decided("tlbs.b.miss_penalty", std::int64_t{300}, {"given", 1}));
    return outcome_of("tlb_launches", machine, findings);
}

TEST(TlbLaunches, FindsWhichTlbsKeepTheirEntries) {
    const auto outlasts = [](const Outcome& outcome, std::string_view key) -> int {
        const auto* found = find(outcome, "tlbs." + std::string(key) + ".outlasts_launches");
        return found == nullptr ? -1 : std::get<bool>(found->value) ? 1 : 0;
    };
    const auto all = launches_of_tlbs(true, true), far = launches_of_tlbs(false, true),
               none = launches_of_tlbs(false, false);
    EXPECT_EQ(outlasts(all, "a"), 1);
    EXPECT_EQ(outlasts(all, "b"), -1) << "nothing asks it";
    EXPECT_EQ(outlasts(far, "a"), 0);
    EXPECT_EQ(outlasts(far, "b"), 1);
    EXPECT_EQ(outlasts(none, "a"), 0);
    EXPECT_EQ(outlasts(none, "b"), 0);
    EXPECT_EQ(outcome_of("tlb_launches", gtx980()).warnings.size(), 1U) << "no TLB is known";
}

TEST(MemoryRefresh, IsFoundByTheExperiment) {
    auto machine = gtx980();
    machine.memory.refresh_interval.set(3100);
    machine.memory.refresh_time.set(420);
    const auto outcome = outcome_of("memory_refresh", machine);
    EXPECT_NEAR(number(outcome, "memory.refresh_interval"), 3100, 15);
    EXPECT_NEAR(number(outcome, "memory.refresh_time"), 420, 60);
    machine.memory.refresh_interval = {};
    machine.memory.refresh_time = {};
    const auto without = outcome_of("memory_refresh", machine);
    const auto* found = find(without, "memory.refresh_time");
    ASSERT_NE(found, nullptr);
    EXPECT_EQ(found->knowledge, results::Knowledge::absent);
}

}  // namespace
}  // namespace gputomo::experiments::of_cold_launches
