// Which blocks schedulers prefer, found on simulated GPUs whose schedulers prefer the oldest or none.
#include "experiments/experiments.hpp"
#include "machine/json.hpp"
#include "quiet_context.hpp"
#include "sim/simulator.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>

namespace gputomo::experiments {
namespace {

std::string priority_of(std::string_view gpu, const char* priority) {
    auto machine = machine::load(fmt::format("{}/machines/{}.json", GPUTOMO_SOURCE_DIR, gpu));
    machine.issue.block_priority = {};
    if (priority != nullptr) machine.issue.block_priority.set(priority);
    const auto device = sim::make_device(machine, {.id = "sim:priority"});
    Findings findings;
    findings.add(results::decided("issue.schedulers_per_sm", *machine.issue.schedulers_per_sm, {"told", 1}));
    Context context = quiet_context(*device, findings);
    const Outcome outcome = block_priority_experiment().run(context);
    const auto found = std::ranges::find(outcome.estimates, "issue.block_priority", &results::Estimate::path);
    if (found == outcome.estimates.end()) return "nothing";
    const auto* text = std::get_if<std::string>(&found->value);
    return text == nullptr ? "undecided" : *text;
}

TEST(BlockPriority, IsFoundWhereOldBlocksComeFirst) {
    EXPECT_EQ(priority_of("gtx980", "oldest"), "oldest");
    EXPECT_EQ(priority_of("gtx680", "oldest"), "oldest");
    EXPECT_EQ(priority_of("8800gtx", "oldest"), "oldest") << "one scheduler";
}

TEST(BlockPriority, IsNoneWhereWarpsTakeTurns) {
    EXPECT_EQ(priority_of("gtx980", "none"), "none");
    EXPECT_EQ(priority_of("gtx680", nullptr), "none");
    EXPECT_EQ(priority_of("8800gtx", nullptr), "none");
}

}  // namespace
}  // namespace gputomo::experiments
