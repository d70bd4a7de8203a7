// Bulk copies, barriers in shared memory, fences and clusters: experiments find what the simulated GPU's description
// says, also where it says something else than an H200's.
#include "experiments/experiment.hpp"
#include "experiments/experiments.hpp"
#include "machine/json.hpp"
#include "measure/asynchronous/asynchronous_module.hpp"
#include "measure/asynchronous/tensor_maps.hpp"
#include "quiet_context.hpp"
#include "results/findings.hpp"
#include "sass/code.hpp"
#include "sass/cubin.hpp"
#include "sim/completion.hpp"
#include "sim/simulator.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace gputomo::experiments::asynchronous {
namespace {

machine::Machine h200() { return sim::completed(machine::load(GPUTOMO_SOURCE_DIR "/machines/h200.json")).machine; }

/// An H200 with other values of what the experiments look for.
machine::Machine another() {
    auto machine = h200();
    const auto latency = [&](const char* operation, std::int64_t cycles) {
        machine.operations[operation].latency.set(cycles);
    };
    machine.issue.branch_latency_untaken.set(25);
    machine.shared.latency.set(31);
    machine.shared.forward_latency.set(34);
    latency("mbarrier.try_wait", 17);
    latency("mbarrier.arrive", 45);
    latency("mbarrier.arrive:cluster", 251);
    latency("fence.acq_rel.cta", 8);
    latency("fence.acq_rel.gpu", 411);
    latency("fence.acq_rel.sys", 2044);
    latency("fence.proxy.async", 202);
    latency("st.global:acknowledged", 504);
    latency("cp.async.bulk", 388);
    latency("cp.async.bulk.tensor", 441);
    latency("cp.async.bulk:store", 93);
    latency("cp.async.bulk:between", 333);
    latency("ld.shared::cluster", 277);
    latency("barrier.cluster", 121);
    machine.operations["cp.async.bulk.tensor:row"].throughput.set(0.4);
    machine.operations["barrier.cluster"].throughput.set(0.1);
    machine.accesses["l2_bulk"].sm_bytes_per_cycle.set(41);
    machine.accesses["l2_bulk_store"].sm_bytes_per_cycle.set(13.5);
    machine.accesses["shared_cluster"].sm_bytes_per_cycle.set(29);
    machine.accesses["shared_cluster_store"].sm_bytes_per_cycle.set(11);
    machine.topology.cluster_sms.set({40, 30, 24, 18, 12, 4, 2, 2});
    machine.launch.cluster_replacement.set(777);
    machine.launch.cluster_interval.set(9.5);
    return machine;
}

/// What the experiment finds, with the findings of others on which it relies.
Outcome outcome_of(const std::string& id, const machine::Machine& machine) {
    const auto device = sim::make_device(machine, {.id = "sim:test", .seed = 5});
    Findings findings;
    const auto know = [&](const std::string& path, double value) { findings.add(decided(path, value, {"given", 1})); };
    know("shared.latency", static_cast<double>(*machine.shared.latency));
    know("shared.forward_latency", static_cast<double>(machine.shared.forward_latency.value_or(0)));
    know("operations[mbarrier.try_wait].latency",
         static_cast<double>(*machine.operations.at("mbarrier.try_wait").latency));
    know("issue.branch_latency_untaken", static_cast<double>(*machine.issue.branch_latency_untaken));
    know("launch.block_replacement", static_cast<double>(*machine.launch.block_replacement));
    Context context = quiet_context(*device, findings);
    const auto rows = catalogue();
    return std::ranges::find(rows, id, &Experiment::id)->run(context);
}

double number(const Outcome& outcome, const std::string& path) {
    const auto found = std::ranges::find(outcome.estimates, path, &results::Estimate::path);
    if (found == outcome.estimates.end()) return -1;
    return results::as_number(found->value).value_or(-1);
}

/// Compares the latency of each operation with the description's, to within `cycles`.
void expect_latencies(const Outcome& outcome, const machine::Machine& machine,
                      const std::vector<std::string>& operations, double cycles) {
    for (const auto& operation : operations)
        EXPECT_NEAR(number(outcome, "operations[" + operation + "].latency"),
                    static_cast<double>(*machine.operations.at(operation).latency), cycles)
            << operation;
}

class AsynchronousOperations : public testing::TestWithParam<bool> {
protected:
    machine::Machine machine = GetParam() ? another() : h200();
};
INSTANTIATE_TEST_SUITE_P(Machines, AsynchronousOperations, testing::Bool(),
                         [](const auto& info) { return info.param ? "Another" : "H200"; });

TEST_P(AsynchronousOperations, ChecksAndArrivalsAreFound) {
    expect_latencies(outcome_of("shared_barriers", machine), machine,
                     {"mbarrier.try_wait", "mbarrier.arrive", "mbarrier.arrive:cluster"}, 2);
}

TEST_P(AsynchronousOperations, FencesAreFound) {
    const Outcome outcome = outcome_of("fences", machine);
    expect_latencies(outcome, machine, {"fence.acq_rel.gpu", "fence.acq_rel.sys", "fence.proxy.async"}, 3);
    expect_latencies(outcome, machine, {"st.global:acknowledged"}, 8);
}

TEST_P(AsynchronousOperations, CopiesAndBoxesAreFound) {
    const Outcome outcome = outcome_of("bulk_copies", machine);
    // A copy comes from parts of the L2 that are nearer and farther than the mean.
    expect_latencies(outcome, machine, {"cp.async.bulk", "cp.async.bulk.tensor"}, 12);
    expect_latencies(outcome, machine, {"cp.async.bulk:store"}, 3);
    const auto rate = [&](const char* kind) { return *machine.accesses.at(kind).sm_bytes_per_cycle; };
    EXPECT_NEAR(number(outcome, "accesses.l2_bulk.sm_bytes_per_cycle") / rate("l2_bulk"), 1, 0.03);
    EXPECT_NEAR(number(outcome, "accesses.l2_bulk_store.sm_bytes_per_cycle") / rate("l2_bulk_store"), 1, 0.01);
    EXPECT_NEAR(number(outcome, "operations[cp.async.bulk.tensor:row].throughput") /
                    *machine.operations.at("cp.async.bulk.tensor:row").throughput,
                1, 0.03);
}

TEST_P(AsynchronousOperations, ClustersAreFound) {
    const Outcome outcome = outcome_of("clusters", machine);
    expect_latencies(outcome, machine, {"ld.shared::cluster", "barrier.cluster"}, 4);
    expect_latencies(outcome, machine, {"cp.async.bulk:between"}, 12);
    const auto rate = [&](const char* kind) { return *machine.accesses.at(kind).sm_bytes_per_cycle; };
    EXPECT_NEAR(number(outcome, "accesses.shared_cluster.sm_bytes_per_cycle") / rate("shared_cluster"), 1, 0.05);
    EXPECT_NEAR(number(outcome, "accesses.shared_cluster_store.sm_bytes_per_cycle") / rate("shared_cluster_store"), 1,
                0.05);
    EXPECT_NEAR(number(outcome, "operations[barrier.cluster].throughput") /
                    *machine.operations.at("barrier.cluster").throughput,
                1, 0.1);
    EXPECT_NEAR(number(outcome, "launch.cluster_interval"), *machine.launch.cluster_interval, 0.2);
    const auto starts = std::ranges::find(outcome.estimates, "launch.cluster_interval", &results::Estimate::path);
    ASSERT_TRUE(starts->interval.has_value());
    EXPECT_LE((*starts->interval)[0], number(outcome, "launch.cluster_interval"));
    EXPECT_GE((*starts->interval)[1], number(outcome, "launch.cluster_interval"));
    EXPECT_NEAR(number(outcome, "launch.cluster_replacement"), static_cast<double>(*machine.launch.cluster_replacement),
                10);
    const auto groups = std::ranges::find(outcome.estimates, "topology.cluster_sms", &results::Estimate::path);
    ASSERT_NE(groups, outcome.estimates.end());
    EXPECT_EQ(std::get<std::vector<std::int64_t>>(groups->value), *machine.topology.cluster_sms);
}

TEST(GpcPorts, RateOfAGpcComesBack) {
    for (const double rate : {300.0, 627.0}) {
        auto machine = h200();
        machine.caches.at("l2").gpc_bytes_per_cycle.set(rate);
        const auto device = sim::make_device(machine, {.id = "sim:test", .seed = 5});
        const Findings none;
        Context context = quiet_context(*device, none, true);
        const auto outcome = gpc_ports_experiment().run(context);
        EXPECT_NEAR(number(outcome, "caches.l2.gpc_bytes_per_cycle"), rate, 0.1 * rate);
    }
}

TEST(GpcPorts, AreAbsentWhereEachSmReadsAsFastAsAlone) {
    auto machine = h200();
    machine.caches.at("l2").gpc_bytes_per_cycle = {};
    const auto device = sim::make_device(machine, {.id = "sim:test", .seed = 5});
    const Findings none;
    Context context = quiet_context(*device, none, true);
    const auto outcome = gpc_ports_experiment().run(context);
    ASSERT_THAT(outcome.estimates, testing::SizeIs(1));
    EXPECT_EQ(outcome.estimates[0].knowledge, results::Knowledge::absent);
}

TEST(AsynchronousOperations, AreNotTimedOnGpusThatDoNotHaveThem) {
    const auto machine = sim::completed(machine::load(GPUTOMO_SOURCE_DIR "/machines/gtx980.json")).machine;
    const auto device = sim::make_device(machine, {.id = "sim:test"});
    EXPECT_FALSE(measure::executes_asynchronous_kernels(*device));
    const Findings none;
    for (const char* id : {"shared_barriers", "fences", "bulk_copies", "clusters", "gpc_ports"}) {
        std::string said;
        Context context = quiet_context(*device, none);
        context.progress = [&](double, std::string_view what) { said = what; };
        const auto rows = catalogue();
        EXPECT_THAT(std::ranges::find(rows, id, &Experiment::id)->run(context).estimates, testing::IsEmpty()) << id;
        EXPECT_THAT(said, testing::HasSubstr("does not apply")) << id;
    }
}

TEST(TensorMaps, AreThoseOfTheDriver) {
    // cuTensorMapEncodeTiled of driver 580: 4096 x 4096 halves at 0x7f7158000000, a box of 64 x 128, swizzle of 128 B.
    const auto map = measure::tensor_map({.columns = 64, .rows = 128, .swizzle = 128}, 0x7f7158000000);
    std::array<std::uint32_t, 32> expected{};
    expected[0] = 0x58000000, expected[1] = 0x7f71, expected[2] = 0x6310, expected[3] = 0x200;
    expected[8] = expected[9] = 0xfff, expected[13] = 0x3f000000, expected[14] = 0x7f;
    expected[16] = 0x4000, expected[18] = 0x400;
    EXPECT_EQ(map, expected);
}

TEST(AsynchronousKernels, HaveTheInstructionsThatAreTimed) {
    const auto cubin = measure::asynchronous_cubin();
    const auto bytes = std::as_bytes(std::span(cubin));
    const auto count = [&](const char* kernel, std::string_view text) {
        const auto code = sass::Cubin({bytes.begin(), bytes.end()}).text(kernel).bytes;
        return std::ranges::count_if(sass::decode(code, 90), [&](const sass::Instruction& instruction) {
            return sass::text_of(instruction, 0).find(text) != std::string::npos;
        });
    };
    EXPECT_EQ(count("barrier_chains", "TRYWAIT"), 6 * 24);
    EXPECT_EQ(count("one_copy", "UBLKCP.S.G"), 6);
    EXPECT_EQ(count("one_box", "UTMALDG.2D"), 6);
    EXPECT_EQ(count("fence_of_gpu", "MEMBAR.ALL.GPU"), 12);
    EXPECT_EQ(count("fence_of_gpu", "CCTL.IVALL"), 12);
    EXPECT_EQ(count("fence_of_proxy", "CCTL.IVALL"), 0);
}

}  // namespace
}  // namespace gputomo::experiments::asynchronous
