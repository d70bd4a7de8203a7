#include "compare/kernels/comparison.hpp"
#include "compare/kernels/measurement.hpp"
#include "machine/json.hpp"
#include "sim/simulator.hpp"
#include "units/error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <string>

namespace gputomo::compare {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;

machine::Machine shipped(const std::string& name) {
    return machine::load(std::string(GPUTOMO_SOURCE_DIR) + "/machines/" + name + ".json");
}

scan::MeasuredKernel measured(const std::string& id, std::vector<measure::KernelSample> samples) {
    return {.id = id, .threads = 128, .registers = 16, .samples = std::move(samples)};
}

/// A prediction whose throughput passes through these points.
predict::Prediction predicted(const std::vector<std::pair<int, double>>& points) {
    predict::Prediction prediction;
    for (const auto& [warps, rate] : points)
        prediction.points.push_back({.warps = warps,
                                     .warps_per_cycle = rate,
                                     .contended_warps_per_cycle = rate,
                                     .queued_warps_per_cycle = rate});
    return prediction;
}

TEST(NamedWorkloads, AreAllOrOneOrNone) {
    EXPECT_THAT(workloads_named("all"), SizeIs(measure::workloads().size()));
    ASSERT_THAT(workloads_named("vector_add"), SizeIs(1));
    EXPECT_EQ(workloads_named("vector_add")[0]->id, "vector_add");
    EXPECT_THAT(workloads_named("kernel.ptx"), IsEmpty());
    EXPECT_EQ(workload_names().front(), "all");
    EXPECT_THAT(workload_names(), SizeIs(measure::workloads().size() + 1));
}

TEST(NeededOccupancy, IsInterpolatedBetweenMeasuredOccupancies) {
    const KernelComparison comparison{predicted({{8, 1}, {16, 1}, {32, 1}}),
                                      measured("k", {{.blocks = 2, .warps = 8, .warps_per_cycle = 1},
                                                     {.blocks = 4, .warps = 16, .warps_per_cycle = 2},
                                                     {.blocks = 8, .warps = 32, .warps_per_cycle = 2}})};
    EXPECT_DOUBLE_EQ(needed_occupancy(comparison).measured, 8 + 8 * 0.8) << "1.8 lies between 8 and 16 warps";
    EXPECT_DOUBLE_EQ(needed_occupancy(comparison).predicted, 8 * 0.9) << "below the first point it rises from 0";
}

TEST(NeededOccupancy, IsWhereTheThroughputStaysHigh) {
    const KernelComparison dips{predicted({{8, 1}, {32, 1}}),
                                measured("k", {{.blocks = 2, .warps = 8, .warps_per_cycle = 2},
                                               {.blocks = 4, .warps = 16, .warps_per_cycle = 1},
                                               {.blocks = 8, .warps = 32, .warps_per_cycle = 2}})};
    EXPECT_DOUBLE_EQ(needed_occupancy(dips).measured, 16 + 16 * 0.8);
}

TEST(HeldOccupancy, TakesSharedMemoryBelowTheMostMeasuredBlocks) {
    machine::Machine machine;
    machine.shared.capacity.set(64 << 10);
    machine.shared.max_per_block.set(32 << 10);
    machine.shared.block_overhead.set(1024);
    predict::Choices choices;
    hold_occupancy(choices, 256, measured("k", {{.blocks = 4, .warps = 16, .warps_per_cycle = 1}}), machine);
    EXPECT_EQ(choices.holding(4), 256) << "what the kernel needs";
    const auto two = choices.holding(2);
    EXPECT_LE(2 * (two + 1024), 64 * 1024) << "two blocks fit";
    EXPECT_GT(3 * (two + 1024), 64 * 1024) << "a third one does not";
}

TEST(PredictedWorkload, KnowsWhatTheKernelsDataDecide) {
    const auto& random = measure::find_workload("permute_random");
    const auto predicted = predicted_workload(random);
    EXPECT_EQ(predicted.choices.warps_of_block, random.threads / 32);
    EXPECT_THAT(predicted.choices.access.transactions, ElementsAre(Pair(::testing::_, 32)))
        << "each thread's load touches a line of its own";
}

TEST(ComparedWorkloads, AreThoseThatWereMeasured) {
    const scan::MeasuredKernels kernels{
        .gpu = "GPU",
        .sms = 1,
        .kernels = {measured("vector_add", {{.blocks = 4, .warps = 16, .warps_per_cycle = 0.01}})}};
    const auto comparisons =
        compare_workloads(workloads_named("all"), kernels, shipped("gtx980"), "sim:gtx980", "k.json");
    ASSERT_THAT(comparisons, SizeIs(1));
    EXPECT_EQ(comparisons[0].measured.id, "vector_add");
    const auto json = comparison_json(comparisons);
    EXPECT_EQ(json.at(0).at("kernel"), "vector_add");
    EXPECT_EQ(json.at(0).at("warps_per_cycle").at(0).at("measured"), 0.01);
    EXPECT_THAT(comparison_table(comparisons), HasSubstr("vector_add"));
    try {
        static_cast<void>(
            compare_workloads(workloads_named("reduce"), kernels, shipped("gtx980"), "sim:gtx980", "k.json"));
        FAIL() << "expected an InputError";
    } catch (const InputError& e) {
        EXPECT_THAT(e.what(), HasSubstr("k.json: has no measured kernel of reduce"));
    }
}

TEST(MeasuredWorkloads, AreSavedOneByOne) {
    const auto device = sim::make_device(shipped("gtx680"), {.id = "sim:gtx680", .seed = 1});
    std::vector<std::size_t> saved;
    double done = 0;
    const auto kernels = measure_workloads(
        *device, {&measure::find_workload("vector_add"), &measure::find_workload("permute_identity")},
        [&](double fraction, std::string_view) {
            EXPECT_GE(fraction, done);
            done = fraction;
        },
        [&](const scan::MeasuredKernels& all) { saved.push_back(all.kernels.size()); });
    EXPECT_THAT(saved, ElementsAre(1, 2));
    EXPECT_LE(done, 1);
    EXPECT_EQ(kernels.gpu, device->name());
    ASSERT_THAT(kernels.kernels, SizeIs(2));
    EXPECT_EQ(kernels.kernels[1].id, "permute_identity");
    EXPECT_THAT(kernels.kernels[0].samples, ::testing::Not(IsEmpty()));
}

}  // namespace
}  // namespace gputomo::compare
