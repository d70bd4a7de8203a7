// Loads from shared memory that wait while their warps go on, on simulated GPUs with queues of several sizes and with
// none.
#include "experiments/experiments.hpp"
#include "machine/json.hpp"
#include "quiet_context.hpp"
#include "sim/completion.hpp"
#include "sim/simulator.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <string>
#include <variant>

namespace gputomo::experiments {
namespace {

struct Queues {
    std::int64_t of_scheduler = 0, loads_of_sm = 0;
};

machine::Machine with_queues(const std::string& name, Queues queues) {
    auto machine = machine::load(std::string(GPUTOMO_SOURCE_DIR) + "/machines/" + name + ".json");
    machine.shared.queue = {};
    machine.shared.load_queue = {};
    if (queues.of_scheduler > 0) machine.shared.queue.set(queues.of_scheduler);
    if (queues.loads_of_sm > 0) machine.shared.load_queue.set(queues.loads_of_sm);
    return sim::completed(machine).machine;
}

std::map<std::string, std::int64_t> found_on(const machine::Machine& machine) {
    Findings findings;
    findings.add({.path = "shared.banks", .value = *machine.shared.banks});
    findings.add({.path = "shared.bank_width", .value = *machine.shared.bank_width});
    findings.add({.path = "issue.schedulers_per_sm", .value = *machine.issue.schedulers_per_sm});
    const auto gpu = sim::make_device(machine, {.id = "sim", .seed = 1});
    Context context = quiet_context(*gpu, findings, true);
    std::map<std::string, std::int64_t> found;
    for (const auto& estimate : shared_queue_experiment().run(context).estimates)
        found[estimate.path] = std::get<std::int64_t>(estimate.value);
    return found;
}

TEST(SharedQueue, SizesComeBack) {
    for (const Queues queues : {Queues{10, 18}, Queues{4, 0}, Queues{7, 31}, Queues{13, 5}}) {
        const auto found = found_on(with_queues("h200", queues));
        ASSERT_EQ(found.size(), 2U);
        EXPECT_EQ(found.at("shared.queue"), queues.of_scheduler);
        EXPECT_EQ(found.at("shared.load_queue"), queues.loads_of_sm);
    }
}

TEST(SharedQueue, AGpuWithoutQueuesHasNone) {
    for (const std::string name : {"h200", "gtx980"}) {
        const auto found = found_on(with_queues(name, {}));
        ASSERT_EQ(found.size(), 2U) << name;
        EXPECT_EQ(found.at("shared.queue"), 0) << name;
        EXPECT_EQ(found.at("shared.load_queue"), 0) << name;
    }
}

TEST(SharedQueue, NothingIsSaidWithoutBanks) {
    const auto gpu = sim::make_device(with_queues("h200", {}), {.id = "sim", .seed = 1});
    const Findings findings;
    Context context = quiet_context(*gpu, findings, true);
    EXPECT_TRUE(shared_queue_experiment().run(context).estimates.empty());
}

}  // namespace
}  // namespace gputomo::experiments
