// Throughput of whole kernels over occupancy, on simulated GPUs.
#include "machine/json.hpp"
#include "measure/workload/workload.hpp"
#include "sim/simulator.hpp"
#include "units/error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gputomo::measure {
namespace {

using ::testing::ElementsAre;

machine::Machine one_sm() {
    auto machine = machine::load(GPUTOMO_SOURCE_DIR "/machines/gtx980.json");
    machine.topology.sms.set(1);
    machine.memory.read_bandwidth.set(20);
    machine.memory.peak_bandwidth.set(20);
    machine.memory.copy_bandwidth.set(19);
    return machine;
}

void no_progress(double, std::string_view) {}

TEST(KernelTiming, UnusedSharedMemoryLimitsEachOccupancy) {
    const auto device = sim::make_device(one_sm(), {.id = "sim:one"});
    const auto timing = time_workload(*device, find_workload("vector_add"), no_progress);
    std::vector<int> warps;
    for (const auto& sample : timing.samples) warps.push_back(sample.warps);
    EXPECT_THAT(warps, ElementsAre(8, 16, 32, 48, 64));
    // Latency limits the first two occupancies: twice the warps give twice the throughput.
    EXPECT_NEAR(timing.samples[1].warps_per_cycle / timing.samples[0].warps_per_cycle, 2, 0.2);
    EXPECT_GE(timing.samples[4].warps_per_cycle, timing.samples[3].warps_per_cycle * 0.98);
}

TEST(KernelTiming, WritesLowerTheThroughput) {
    const auto device = sim::make_device(one_sm(), {.id = "sim:one"});
    const auto read = time_workload(*device, find_workload("vector_abs_positive"), no_progress),
               both = time_workload(*device, find_workload("vector_abs_negative"), no_progress);
    EXPECT_GT(read.samples.back().warps_per_cycle, 1.3 * both.samples.back().warps_per_cycle);
}

TEST(KernelTiming, RefusesABlockThatFitsNoSm) {
    auto machine = one_sm();
    const auto device = sim::make_device(machine, {.id = "sim:one"});
    const auto module = device->load(ptx_of(find_workload("vector_add")));
    EXPECT_THROW(KernelTiming(*device, module->kernel("vector_add"), {128}, Bytes{1 << 20}), DeviceError);
}

TEST(Workloads, AnUnknownIdIsRefusedWithTheKnownOnes) {
    try {
        static_cast<void>(find_workload("fft"));
        FAIL() << "expected InputError";
    } catch (const InputError& e) {
        EXPECT_THAT(e.what(), ::testing::HasSubstr("expected one of vector_add, permute_identity"));
    }
}

}  // namespace
}  // namespace gputomo::measure
