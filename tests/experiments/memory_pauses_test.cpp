// Pauses of the memory of simulated GPUs, as the experiment finds them.
#include "experiments/experiments.hpp"
#include "machine/json.hpp"
#include "quiet_context.hpp"
#include "sim/simulator.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <variant>

namespace gputomo::experiments {
namespace {

machine::Machine shipped(const std::string& name) {
    return machine::load(std::string(GPUTOMO_SOURCE_DIR) + "/machines/" + name + ".json");
}

Outcome pauses_on(const machine::Machine& machine, const sim::Options& options = {.id = "sim", .seed = 1}) {
    const auto gpu = sim::make_device(machine, options);
    const Findings findings;
    Context context = quiet_context(*gpu, findings);
    return memory_pauses_experiment().run(context);
}

void expect_found(machine::Machine machine, double interval, double time,
                  const sim::Options& options = {.id = "sim", .seed = 1}, double part = 0.01) {
    machine.memory.pause_interval.set(interval);
    machine.memory.pause_time.set(time);
    const auto outcome = pauses_on(machine, options);
    ASSERT_EQ(outcome.estimates.size(), 2U);
    std::map<std::string, results::Estimate> found;
    for (const auto& estimate : outcome.estimates) found[estimate.path] = estimate;
    for (const auto& [path, truth] :
         {std::pair{"memory.pause_interval", interval}, std::pair{"memory.pause_time", time}}) {
        ASSERT_EQ(found[path].knowledge, results::Knowledge::known) << path << ": " << found[path].note;
        EXPECT_NEAR(std::get<double>(found[path].value), truth, part * truth) << path;
    }
}

TEST(MemoryPausesExperiment, FindsPausesOfAMemoryWithoutCaches) {
    auto machine = shipped("gtx680");
    machine.caches.clear();
    machine.paths.at("global").caches = {};
    expect_found(machine, 7500, 200);
}

TEST(MemoryPausesExperiment, FindsPausesBeyondALastCacheThatServesSomeLoads) {
    expect_found(shipped("gtx680"), 7500, 200, {.id = "sim", .seed = 1}, 0.05);
}

TEST(MemoryPausesExperiment, FindsPausesBeyondCaches) { expect_found(shipped("gtx780"), 23'000, 640); }

TEST(MemoryPausesExperiment, FindsPausesAmongOutliers) {
    sim::Options options{.id = "sim", .seed = 5};
    options.noise = {.jitter_cycles = 2, .outlier_fraction = 0.01, .outlier_cycles = 300};
    const auto machine = shipped("gtx280");
    expect_found(machine, 15'000, 500, options);
}

TEST(MemoryPausesExperiment, ReportsThatAMemoryHasNoPauses) {
    auto machine = shipped("gtx480");
    machine.memory.pause_interval = {}, machine.memory.pause_time = {};
    const auto outcome = pauses_on(machine);
    ASSERT_EQ(outcome.estimates.size(), 2U);
    for (const auto& estimate : outcome.estimates)
        EXPECT_EQ(estimate.knowledge, results::Knowledge::absent) << estimate.path << ": " << estimate.note;
}

}  // namespace
}  // namespace gputomo::experiments
