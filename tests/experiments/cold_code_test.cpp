// The experiment cold_code on simulated GPUs whose launches fetch code before their first block, and on others.
#include "experiments/experiment.hpp"
#include "machine/json.hpp"
#include "quiet_context.hpp"
#include "sim/simulator.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace gputomo::experiments::of_cold_code {
namespace {

/// A GeForce GTX 280 with instructions of 16 bytes, an L2, and caches of instructions that fetch ahead.
machine::Machine fetching(std::int64_t prefetch, std::int64_t memory_latency) {
    auto m = machine::load(GPUTOMO_SOURCE_DIR "/machines/gtx280.json");
    m.identity.compute_capability_major.set(7);
    m.topology.sms.set(6);
    for (auto& [name, path] : m.paths) path.memory_latency_range = {};
    for (auto& [name, cache] : m.caches) cache.latency_range = {};
    m.instruction_supply = {};
    m.instruction_supply.instruction_bytes.set(16);
    const auto cache = [&](const char* key, const char* scope, std::int64_t line, std::int64_t sets,
                           std::int64_t latency) {
        machine::Cache c;
        c.scope.set(scope);
        c.line.set(line);
        c.ways.set(8);
        c.sets.set(sets);
        c.capacity.set(8 * line * sets);
        c.policy.set("lru");
        c.latency.set(latency);
        m.caches[key] = c;
    };
    cache("instruction_l1", "sm", 128, 16, 0);
    cache("instruction_l2", "gpc", 256, 64, 60);
    cache("l2", "gpu", 128, 256, 280);
    m.caches["instruction_l1"].fetched_ahead.set(640);
    m.topology.sms_per_gpc.set(3);
    m.paths["instruction"].caches.set({"instruction_l1", "instruction_l2", "l2"});
    m.paths["instruction"].memory_latency.set(memory_latency);
    m.paths["global"].caches.set({"l2"});
    if (prefetch > 0) m.launch.code_prefetch.set(prefetch);
    return m;
}

Outcome outcome_on(const machine::Machine& machine, bool knows_ahead = true) {
    const auto device = sim::make_device(machine, {.id = "sim:test", .seed = 11});
    Findings findings;
    if (knows_ahead) {
        findings.add(decided("caches.instruction_l1.line", std::int64_t{128}, {}));
        findings.add(undecided("caches.instruction_l1.fetched_ahead", {std::int64_t{640}}, {}));
    }
    Context context = quiet_context(*device, findings);
    return std::ranges::find(catalogue(), "cold_code", &Experiment::id)->run(context);
}

const Estimate* find(const Outcome& outcome, std::string_view path) {
    const auto found = std::ranges::find(outcome.estimates, path, &Estimate::path);
    return found == outcome.estimates.end() ? nullptr : &*found;
}

double number(const Outcome& outcome, std::string_view path) {
    const auto* found = find(outcome, path);
    const bool known = found != nullptr && found->knowledge == Knowledge::known;
    EXPECT_TRUE(known) << path << " was not decided";
    return known ? static_cast<double>(std::get<std::int64_t>(found->value)) : -1;
}

TEST(ColdCode, FindsTheCodeThatALaunchBrings) {
    for (const std::int64_t bytes : {32 * 1024, 72 * 1024}) {
        const auto outcome = outcome_on(fetching(bytes, 700));
        EXPECT_NEAR(number(outcome, "launch.code_prefetch"), static_cast<double>(bytes), 768) << bytes;
        EXPECT_EQ(outcome.traces.size(), 2U) << "from the L2, and from memory";
    }
}

TEST(ColdCode, FindsTheLatencyOfCodeInMemory) {
    for (const std::int64_t latency : {500, 900})
        EXPECT_NEAR(number(outcome_on(fetching(32 * 1024, latency)), "paths.instruction.memory_latency"),
                    static_cast<double>(latency), 0.08 * static_cast<double>(latency));
}

TEST(ColdCode, LeavesTheLatencyOpenWhereNobodyKnowsWhatAMissFetches) {
    const auto outcome = outcome_on(fetching(32 * 1024, 700), false);
    EXPECT_EQ(find(outcome, "paths.instruction.memory_latency"), nullptr);
    EXPECT_EQ(outcome.warnings.size(), 1U);
}

TEST(ColdCode, ReportsThatALaunchBringsNothing) {
    const auto outcome = outcome_on(fetching(0, 700));
    const auto* found = find(outcome, "launch.code_prefetch");
    ASSERT_NE(found, nullptr);
    EXPECT_EQ(found->knowledge, Knowledge::absent);
}

}  // namespace
}  // namespace gputomo::experiments::of_cold_code
