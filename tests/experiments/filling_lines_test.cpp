// Updates of rows in place and elsewhere, on simulated GPUs whose last cache does and does not hold up stores to lines
// that it is still fetching.
#include "experiments/experiments.hpp"
#include "machine/json.hpp"
#include "quiet_context.hpp"
#include "sim/completion.hpp"
#include "sim/simulator.hpp"

#include <gtest/gtest.h>

#include <string>
#include <variant>

namespace gputomo::experiments {
namespace {

machine::Machine few_sms(const std::string& behaviour, std::int64_t sector = 64) {
    auto machine = machine::load(std::string(GPUTOMO_SOURCE_DIR) + "/machines/h200.json");
    machine.topology.sms.set(8);
    machine.launch.empty_kernel = {};
    machine.paths.at("global").memory_latency_range = {};
    machine.caches.at("constant_l2").latency_range = {};  // over more SMs than these
    machine.accesses.at("l2_atomic").units.set(4);
    machine.caches.at("l2").sector.set(sector);
    machine.caches.at("l2").filling_store = {};
    if (!behaviour.empty()) machine.caches.at("l2").filling_store.set(behaviour);
    return sim::completed(machine).machine;
}

Findings sectors_of(std::int64_t bytes) {
    Findings findings;
    if (bytes > 0) findings.add({.path = "caches.l2.sector", .value = bytes});
    return findings;
}

Outcome updates_on(const machine::Machine& machine, const Findings& findings) {
    const auto gpu = sim::make_device(machine, {.id = "sim", .seed = 1});
    Context context = quiet_context(*gpu, findings, true);
    return filling_lines_experiment().run(context);
}

std::string found_in(const Outcome& outcome) {
    if (outcome.estimates.size() != 1 || outcome.estimates[0].path != "caches.l2.filling_store") return "no estimate";
    const auto* const text = std::get_if<std::string>(&outcome.estimates[0].value);
    return text == nullptr ? "no text" : *text;
}

TEST(FillingLines, BehaviourOfTheCacheComesBack) {
    EXPECT_EQ(found_in(updates_on(few_sms("blocks"), sectors_of(64))), "blocks");
    EXPECT_EQ(found_in(updates_on(few_sms("blocks", 32), sectors_of(32))), "blocks");
    EXPECT_EQ(found_in(updates_on(few_sms("merges"), sectors_of(64))), "merges");
    EXPECT_EQ(found_in(updates_on(few_sms(""), sectors_of(64))), "merges");
}

TEST(FillingLines, UnknownSectorsAreNotMeasured) {
    EXPECT_TRUE(updates_on(few_sms("blocks"), sectors_of(0)).estimates.empty());
}

}  // namespace
}  // namespace gputomo::experiments
