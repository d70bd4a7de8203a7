// Memory, textures, attributes and NVML of a CUDA device.
#include "fake_device.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

namespace gputomo::device::cuda {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::said;

class CudaDeviceTest : public testing::FakeDriverTest {};

TEST_F(CudaDeviceTest, ReportsTheDriversAttributes) {
    const auto device = open_fake();
    EXPECT_EQ(device->name(), "Fake GPU 0");
    EXPECT_EQ(device->id(), "cuda:0");
    EXPECT_EQ(device->attribute(Attribute::warp_size), 32);
    EXPECT_EQ(device->attribute(Attribute::total_memory_bytes), std::int64_t{1} << 30);
    EXPECT_EQ(device->attribute(Attribute::max_grid_x), std::nullopt) << "an attribute that the driver refuses";
}

TEST_F(CudaDeviceTest, MemoryKeepsWhatIsWritten) {
    {
        const auto device = open_fake();
        Buffer buffer(*device, Bytes{64});
        buffer.write(std::vector<std::uint32_t>{1, 2, 3, 4});
        device->fill_u32(buffer.address() + 4, 9, 2);
        EXPECT_EQ(buffer.read<std::uint32_t>(4), (std::vector<std::uint32_t>{1, 9, 9, 4}));
        EXPECT_EQ(state().allocations, 1);
    }
    expect_all_closed();
}

TEST_F(CudaDeviceTest, FailureNamesCallAndSizeAndTheDeviceStaysUsable) {
    const auto device = open_fake();
    EXPECT_THAT(
        said([&] { (void)device->allocate(Bytes{std::int64_t{1} << 40}); }),
        AllOf(HasSubstr("cuda:0: cuMemAlloc_v2 (1099511627776 B) failed"), HasSubstr("CUDA_ERROR_OUT_OF_MEMORY (2)")));
    Buffer buffer(*device, Bytes{16});
    fail("cuMemcpyHtoDAsync_v2", 1);
    EXPECT_THAT(said([&] { buffer.write(std::vector<std::uint32_t>(4)); }),
                AllOf(HasSubstr("cuMemcpyHtoDAsync_v2"), HasSubstr("copy of 16 B to 0x")));
    fail("cuMemcpyDtoHAsync_v2", 1);
    EXPECT_THAT(said([&] { (void)buffer.read<std::uint32_t>(2); }),
                AllOf(HasSubstr("cuMemcpyDtoHAsync_v2"), HasSubstr("copy of 8 B from 0x")));
    fail("cuMemsetD32Async", 1);
    EXPECT_THAT(said([&] { device->fill_u32(buffer.address(), 0, 3); }),
                AllOf(HasSubstr("cuMemsetD32Async"), HasSubstr("fill of 3 words")));
    fail(nullptr, 0);
    EXPECT_NO_THROW(buffer.write(std::vector<std::uint32_t>(4)));
}

TEST_F(CudaDeviceTest, AliasesMapOneAllocationManyTimes) {
    {
        const auto device = open_fake();
        EXPECT_EQ(device->mapping_granularity(), Bytes{4096});
        const Address dense = device->map_aliased(Bytes{4096}, Bytes{4096}, Bytes{16 * 4096});
        EXPECT_EQ(state().mappings, 16);
        EXPECT_EQ(state().physical, 1);
        (void)device->map_aliased(Bytes{4096}, Bytes{8192}, Bytes{16 * 4096});
        EXPECT_EQ(state().mappings, 16 + 8);
        EXPECT_NE(device->map_aliased(Bytes{4096}, Bytes{4096}, Bytes{16 * 4096}), dense) << "that one is in use";
    }
    expect_all_closed();
}

TEST_F(CudaDeviceTest, ReusesAFreedWindowWithoutMappingAgain) {
    {
        const auto device = open_fake();
        const auto map = [&](std::int64_t pages) {
            return device->map_aliased(Bytes{4096}, Bytes{4096}, Bytes{pages * 4096});
        };
        const Address first = map(16);
        device->free(first);
        EXPECT_EQ(map(16), first);
        EXPECT_NE(map(16), first) << "it is in use again";
        device->free(first);
        EXPECT_NE(map(17), first) << "another size";
        EXPECT_EQ(state().mappings, 16 + 16 + 17);
    }
    expect_all_closed();
}

TEST_F(CudaDeviceTest, KeepsTwoFreedWindowsAndUnmapsTheOldest) {
    const auto device = open_fake();
    Address windows[3];
    for (std::int64_t i = 0; i < 3; ++i)
        windows[i] = device->map_aliased(Bytes{4096}, Bytes{4096}, Bytes{(1 << (2 * i)) * 4096});
    for (const Address window : windows) device->free(window);
    EXPECT_EQ(state().mappings, 4 + 16);
    EXPECT_EQ(state().physical, 2);
    device->free(windows[2]);
    EXPECT_EQ(state().mappings, 4 + 16) << "it had been given back";
}

TEST_F(CudaDeviceTest, RefusesAliasesOfOddSizes) {
    const auto device = open_fake();
    const auto refusal = [&](std::int64_t physical, std::int64_t stride, std::int64_t window) {
        return said([&] { (void)device->map_aliased(Bytes{physical}, Bytes{stride}, Bytes{window}); });
    };
    EXPECT_THAT(refusal(4096, 5000, 65536),
                AllOf(HasSubstr("4096 B every 5000 B"), HasSubstr("expected multiples of 4096 B")));
    EXPECT_THAT(refusal(8192, 4096, 65536), HasSubstr("0 < physical <= stride"));
    EXPECT_THAT(refusal(0, 4096, 65536), HasSubstr("0 < physical"));
    EXPECT_THAT(refusal(8192, 8192, 4096), HasSubstr("physical <= window"));
}

TEST_F(CudaDeviceTest, UndoesAnAliasThatFailsHalfway) {
    const auto device = open_fake();
    for (const char* call : {"cuMemAddressReserve", "cuMemCreate", "cuMemMap", "cuMemSetAccess"}) {
        fail(call, 2);
        EXPECT_THAT(said([&] { (void)device->map_aliased(Bytes{4096}, Bytes{4096}, Bytes{65536}); }), HasSubstr(call));
        EXPECT_EQ(state().reservations + state().physical + state().mappings, 0) << call;
    }
}

TEST_F(CudaDeviceTest, FreesTexturesWithTheDevice) {
    {
        const auto device = open_fake();
        const Buffer buffer(*device, Bytes{64});
        (void)device->linear_texture(buffer.address(), buffer.size(), TexelFormat::f32);
        EXPECT_EQ(state().textures, 1);
        fail("cuTexObjectCreate", 1);
        EXPECT_THAT(said([&] { (void)device->linear_texture(buffer.address(), Bytes{64}, TexelFormat::u32); }),
                    AllOf(HasSubstr("cuTexObjectCreate"), HasSubstr("64 B at 0x")));
    }
    expect_all_closed();
}

class NvmlTest : public testing::FakeDriverTest {
protected:
    NvmlTest() {
        const auto self = static_cast<unsigned>(getpid());
        list(state().processes_before, state().count_before, {500001});
        list(state().processes_after, state().count_after, {500001, self});
    }
    static void list(unsigned* pids, int& count, const std::vector<unsigned>& values) {
        std::ranges::copy(values, pids);
        count = static_cast<int>(values.size());
    }
    static ClockState clock_state() { return open(0, {GPUTOMO_FAKE_CUDA, GPUTOMO_FAKE_CUDA})->clock_state(); }
};

TEST_F(NvmlTest, ReportsClocksPowerTemperatureAndOtherProcesses) {
    const auto now = clock_state();
    EXPECT_EQ(now.sm_mhz, 1980);
    EXPECT_EQ(now.memory_mhz, 2619);
    EXPECT_EQ(now.temperature_celsius, 41);
    EXPECT_EQ(now.power_watt, 123.5);
    EXPECT_EQ(now.other_processes, 1);
}

TEST_F(NvmlTest, NamesWhatHoldsTheClocksDown) {
    EXPECT_EQ(clock_state().throttle_reasons, std::vector<std::string>());
    state().throttle_reasons = 0x1 | 0x4 | 0x40 | 0x8000;
    const std::vector<std::string> reasons{"idle", "power cap", "thermal slowdown by hardware",
                                           "unknown reason 0x8000"};
    EXPECT_EQ(clock_state().throttle_reasons, reasons);
    fail("nvmlDeviceGetCurrentClocksEventReasons", 3);
    EXPECT_EQ(clock_state().throttle_reasons, std::nullopt);
}

TEST_F(NvmlTest, OlderDriversNameThrottleReasonsByAnotherCall) {
    auto& old = testing::state_of(GPUTOMO_FAKE_CUDA_OLD);
    old = {};
    old.throttle_reasons = 0x80;
    const auto device = open(0, {GPUTOMO_FAKE_CUDA, GPUTOMO_FAKE_CUDA_OLD});
    EXPECT_EQ(device->clock_state().throttle_reasons, std::vector<std::string>{"power brake"});
}

TEST_F(NvmlTest, ReportsWhetherEccIsOnAndItsErrors) {
    EXPECT_EQ(clock_state().ecc, true);
    EXPECT_EQ(clock_state().ecc_uncorrected, 3);
    state().ecc_enabled = false;
    EXPECT_EQ(clock_state().ecc, false);
    EXPECT_EQ(clock_state().ecc_uncorrected, std::nullopt) << "nothing counts errors without ECC";
    fail("nvmlDeviceGetEccMode", 3);
    EXPECT_EQ(clock_state().ecc, std::nullopt) << "a GPU without ECC refuses the call";
}

TEST_F(NvmlTest, AnOverviewNeedsNoContext) {
    const auto seen = overview(0, {GPUTOMO_FAKE_CUDA, GPUTOMO_FAKE_CUDA});
    EXPECT_EQ(seen.name, "Fake GPU 0");
    EXPECT_EQ(seen.uuid, "GPU-00010203-0405-0607-0809-0a0b0c0d0e0f");
    EXPECT_EQ(seen.identification.driver, "570.86.15");
    EXPECT_EQ(seen.condition.most_sm_mhz, 1980);
    EXPECT_EQ(seen.condition.most_memory_mhz, 3201);
    EXPECT_EQ(seen.condition.memory, Bytes{std::int64_t{64} << 30});
    EXPECT_EQ(seen.condition.free_memory, Bytes{std::int64_t{60} << 30});
    EXPECT_EQ(seen.condition.persistence, true);
    EXPECT_EQ(seen.condition.mig, false);
    EXPECT_EQ(seen.condition.compute_mode, ComputeMode::any_process);
    EXPECT_EQ(seen.condition.processes, std::vector<unsigned>{500001}) << "before this process has a context";
    expect_all_closed();
    EXPECT_THAT(testing::said([] { (void)overview(1, testing::kFake); }), ::testing::HasSubstr("cuda:1: no such GPU"));
}

TEST_F(NvmlTest, TellsWhetherTheGpuIsDividedAndForWhom) {
    const auto condition = [] { return overview(0, {GPUTOMO_FAKE_CUDA, GPUTOMO_FAKE_CUDA}).condition; };
    state().mig = 1;
    state().compute_mode = 2;
    state().persistence = 0;
    EXPECT_EQ(condition().mig, true);
    EXPECT_EQ(condition().compute_mode, ComputeMode::nobody);
    EXPECT_EQ(condition().persistence, false);
    state().mig_result = 3;
    state().compute_mode = 7;
    EXPECT_EQ(condition().mig, false) << "a GPU that cannot be divided refuses the call";
    EXPECT_EQ(condition().compute_mode, std::nullopt) << "a number that NVML's manual does not have";
    state().mig_result = 999;
    EXPECT_EQ(condition().mig, std::nullopt);
    const auto without = overview(0, testing::kFake).condition;
    EXPECT_EQ(without.mig, std::nullopt);
    EXPECT_EQ(without.free_memory, std::nullopt);
    EXPECT_EQ(overview(0, {GPUTOMO_FAKE_CUDA, GPUTOMO_FAKE_CUDA_OLD}).condition.most_sm_mhz, std::nullopt);
}

TEST_F(NvmlTest, IdentifiesTheGpuAndItsDriver) {
    const auto device = open(0, {GPUTOMO_FAKE_CUDA, GPUTOMO_FAKE_CUDA});
    const auto found = device->identification();
    EXPECT_EQ(found.driver, "570.86.15");
    EXPECT_EQ(found.cuda, "13.0");
    EXPECT_EQ(found.pci_bus_id, "0000:3b:00.0");
    EXPECT_EQ(found.description, "");
    EXPECT_EQ(device->uuid(), "GPU-00010203-0405-0607-0809-0a0b0c0d0e0f");
    fail("nvmlSystemGetDriverVersion", 3);
    EXPECT_EQ(device->identification().driver, "");
    fail(nullptr, 0);
    const auto without = open_fake()->identification();
    EXPECT_EQ(without.driver, "") << "without NVML";
    EXPECT_EQ(without.pci_bus_id, "0000:3b:00.0");
}

TEST_F(NvmlTest, RecognisesThisProcessUnderAnotherPid) {
    list(state().processes_after, state().count_after, {500001, 700007});
    EXPECT_EQ(clock_state().other_processes, 1);
    list(state().processes_after, state().count_after, {500001, 700007, 700008});
    EXPECT_EQ(clock_state().other_processes, 3) << "two new processes: it is unknown which one is this process";
}

TEST_F(NvmlTest, FailedCallsGiveUnknownValues) {
    fail("nvmlDeviceGetClockInfo", 3);
    EXPECT_EQ(clock_state().sm_mhz, std::nullopt);
    EXPECT_EQ(clock_state().power_watt, 123.5);
    fail("nvmlDeviceGetComputeRunningProcesses_v3", 3);
    EXPECT_EQ(clock_state().other_processes, std::nullopt);
    fail("nvmlDeviceGetHandleByUUID", 3);
    EXPECT_EQ(clock_state().sm_mhz, 1980) << "found by its bus";
    fail("nvmlInit_v2", 3);
    EXPECT_EQ(clock_state().sm_mhz, std::nullopt);
    fail(nullptr, 0);
    EXPECT_EQ(open_fake()->clock_state().sm_mhz, std::nullopt) << "without the library";
}

}  // namespace
}  // namespace gputomo::device::cuda
