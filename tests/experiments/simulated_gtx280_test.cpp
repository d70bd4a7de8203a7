// Chases on the simulated GeForce GTX 280 of Wong 2010. tests/scan has what a whole scan of it finds.
#include "experiments/experiments.hpp"
#include "machine/json.hpp"
#include "measure/chase/pointer_chase.hpp"
#include "quiet_context.hpp"
#include "sim/simulator.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <tuple>
#include <vector>

namespace gputomo::experiments {
namespace {

std::unique_ptr<sim::SimulatedDevice> gtx280() {
    return sim::make_device(machine::load(GPUTOMO_SOURCE_DIR "/machines/gtx280.json"), {.id = "sim:gtx280"});
}

/// Alone, as where no experiment has found the caches of constants, of which the second and third are the same.
TEST(SimulatedGtx280Test, InstructionCachesBeyondTheFirstHaveTheGeometryOfTable5) {
    const auto device = gtx280();
    const Findings none;
    Context context = quiet_context(*device, none);
    Findings findings;
    for (const auto& estimate : instruction_caches_experiment().run(context).estimates) findings.add(estimate);
    const std::tuple<std::string, double, double, std::string> rows[] = {
        {"instruction_l1", 4096, 4, "sm"}, {"instruction_l2", 8192, 4, "tpc"}, {"instruction_l3", 32768, 8, "gpu"}};
    for (const auto& [name, capacity, ways, scope] : rows) {
        const auto* found = findings.find("caches." + name + ".scope");
        ASSERT_NE(found, nullptr) << name;
        EXPECT_EQ(found->value, results::Value(scope)) << name;
        EXPECT_EQ(findings.number("caches." + name + ".capacity"), capacity);
        EXPECT_EQ(findings.number("caches." + name + ".line"), 256);
        EXPECT_EQ(findings.number("caches." + name + ".ways"), ways);
    }
}

TEST(SimulatedGtx280Test, ChaseLatencyDependsNeitherOnUnrollingNorOnRecording) {
    const auto device = gtx280();
    const device::Buffer memory(*device, Bytes{65536});
    LinkWriter writer(*device);
    std::vector<device::Address> order;
    for (int i = 0; i < 64; ++i) order.push_back(memory.address() + static_cast<device::Address>(1024 * i));
    for (const int unroll : {1, 8}) {
        PointerChase chase(*device, {.hint = LoadHint::all, .unroll = unroll});
        writer.write_cycle(std::vector{memory.address()});
        chase.calibrate(memory.address());
        writer.write_cycle(order);
        double sum = 0;
        const ChaseRun run{.start = order[0], .warm = 64, .loads = 384};
        for (const double latency : chase.latencies(run)) sum += latency;
        const double average = chase.average(run).value();
        EXPECT_NEAR(average, sum / 384, 1) << "unroll factor " << unroll;
        EXPECT_NEAR(average, 440, 5) << "unroll factor " << unroll;
    }
}

}  // namespace
}  // namespace gputomo::experiments
