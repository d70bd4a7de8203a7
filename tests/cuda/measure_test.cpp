// Measures launches on a CUDA device with the fake driver, whose clock advances with each launch.
#include "fake_device.hpp"

#include "answer/measure.hpp"

#include <chrono>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace gputomo::answer {
namespace {

using device::cuda::testing::FakeDriverTest;
using device::cuda::testing::said;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::uint64_t kWord = 0x6100'0000'0200;  ///< within a page, as the driver's allocations are

constexpr std::uint64_t kOther = 0x6200'0000'0200;

class MeasureTest : public FakeDriverTest {
protected:
    /// A launch of a kernel that takes the address of a word.
    static launch::Launch work(std::uint64_t before = 0) {
        launch::Launch launch;
        launch.code = ".version 7.0\n.entry work(.param .u64 a)\n";
        launch.kernel = "work";
        launch.grid = {2};
        launch.block = {32};
        launch.arguments.push_back({.offset = 0, .bytes = std::vector<std::byte>(8), .buffer = {}});
        std::memcpy(launch.arguments[0].bytes.data(), &kWord, sizeof kWord);
        launch.buffers.push_back(word(before));
        return launch;
    }
    static launch::Buffer word(std::uint64_t value, std::uint64_t address = kWord) {
        launch::Buffer buffer;
        buffer.name = "the word";
        buffer.bytes = sizeof value;
        buffer.address = address;
        buffer.fill = [value](std::span<std::byte> to) { std::memcpy(to.data(), &value, sizeof value); };
        return buffer;
    }
    static Measurement measured(const launch::Launch& launch, const MeasureRequest& request = {}) {
        const auto device = open_fake();
        return Measurer(*device, request).measure(launch);
    }
};

TEST_F(MeasureTest, TakesOffWhatAnEmptyKernelTakes) {
    const auto made = measured(work(), {.repetitions = 5});
    for (const auto& time : {made.cold, made.warm}) {
        ASSERT_TRUE(time);
        EXPECT_EQ(time->cycles, 10'000);
        EXPECT_EQ(time->lowest_cycles, 10'000);
        EXPECT_EQ(time->sm_mhz, 2000);
        EXPECT_EQ(time->microseconds, 5);
        EXPECT_EQ(time->event_microseconds, 250);
        EXPECT_EQ(time->repetitions, 5);
    }
    EXPECT_FALSE(made.restored);
    EXPECT_EQ(made.changed_buffers, 0U);
    EXPECT_THAT(made.warnings, IsEmpty());
    expect_all_closed();
}

TEST_F(MeasureTest, RestoresMemoryThatTheLaunchReadsAndChanges) {
    state().kernels_count = true;
    auto launch = work(41);
    launch.results = {word(42)};
    const auto made = measured(launch, {.repetitions = 3, .compares_results = true});
    EXPECT_TRUE(made.restored);
    EXPECT_EQ(made.changed_buffers, 1U);
    EXPECT_THAT(*made.differences, IsEmpty()) << "the first run began with 41";
    launch.results = {word(43)};
    ASSERT_EQ(measured(launch, {.repetitions = 1, .compares_results = true}).differences->size(), 1U);
}

TEST_F(MeasureTest, RestoresMemoryWhereASecondRunDoesLessForTheSameResult) {
    state().work_done = true;
    const auto made = measured(work(), {.repetitions = 3});
    EXPECT_TRUE(made.restored);
    EXPECT_EQ(made.cold->cycles, 10'000);
    EXPECT_EQ(made.warm->cycles, 10'000);
}

TEST_F(MeasureTest, NeverRepeatsAWaitingKernelOnWhatItLeft) {
    auto launch = work();
    launch.kernel = "waits";
    launch.code = ".version 7.0\n.entry waits(.param .u64 a)\n// ld.acquire.gpu.global.u32\n";
    const auto made = measured(launch, {.repetitions = 3});
    EXPECT_TRUE(made.restored);
    EXPECT_EQ(made.cold->cycles, 10'000);
    EXPECT_EQ(made.warm->cycles, 10'000);
    EXPECT_TRUE(state().kernels_end);
    // The memory of a device that hangs stays taken.
    launch.buffers[0] = word(1, kOther);
    std::memcpy(launch.arguments[0].bytes.data(), &kOther, sizeof kOther);
    EXPECT_THAT(said<TimeLimitError>([&] { (void)measured(launch, {.time_limit = std::chrono::milliseconds(20)}); }),
                HasSubstr("did not end within its time limit of 20 ms"))
        << "it waits for memory that was captured so";
}

TEST_F(MeasureTest, ARepeatThatDoesNotEndIsToldFromALaunchThatDoesNot) {
    auto launch = work();
    launch.kernel = "waits";
    launch.code = ".version 7.0\n.entry waits(.param .u64 a)\n";
    launch.buffers[0] = word(0, kOther);
    std::memcpy(launch.arguments[0].bytes.data(), &kOther, sizeof kOther);
    EXPECT_THAT(said<RepeatedRunError>([&] { (void)measured(launch, {.repetitions = 3}); }),
                HasSubstr("kernel waits, grid 2x1x1"));
    state() = {};
    const auto device = open_fake();
    const auto made = Measurer(*device, {.repetitions = 3}).measure(launch, Restoring::always);
    EXPECT_TRUE(made.restored);
    EXPECT_EQ(made.cold->cycles, 10'000);
}

TEST_F(MeasureTest, RestoresWhatOnlyASecondRunChanges) {
    auto launch = work();
    launch.kernel = "late";
    launch.code = ".version 7.0\n.entry late(.param .u64 a, .param .u64 b)\n";
    const std::uint64_t other = kWord + 64;
    launch.arguments.push_back({.offset = 8, .bytes = std::vector<std::byte>(8), .buffer = {}});
    std::memcpy(launch.arguments[1].bytes.data(), &other, sizeof other);
    launch.buffers.push_back(word(0, other));
    const auto made = measured(launch, {.repetitions = 3, .warm = false});
    EXPECT_EQ(made.changed_buffers, 2U);
    EXPECT_TRUE(made.restored);
    EXPECT_EQ(state().launches_of_late_words, 0);
}

TEST_F(MeasureTest, MapsEachPageOnceWhereAllocationsShareIt) {
    auto launch = work();
    launch.buffers.push_back(word(7, kWord + 64));
    launch.buffers.push_back(word(8, kWord + 8192));
    const auto device = open_fake();
    Measurer measurer(*device, {.repetitions = 1, .cold = false});
    EXPECT_EQ(measurer.measure(launch).warm->cycles, 10'000);
    EXPECT_EQ(state().mappings, 0) << "all is given back after the launch";
    EXPECT_EQ(measurer.measure(launch).warm->cycles, 10'000);
}

TEST_F(MeasureTest, ChangesPointersToMemoryThatIsElsewhere) {
    // The word holds its own address, as a node of a list does; the kernel adds 1 to it.
    auto launch = work(kWord + 4);
    launch.results = {word(kWord + 5)};
    state().kernels_count = true;
    const auto there = measured(launch, {.repetitions = 1, .compares_results = true});
    EXPECT_EQ(there.moved_buffers, 0U);
    EXPECT_THAT(*there.differences, IsEmpty());
    state().taken = 0x6100'0000'0000;
    const auto elsewhere = measured(launch, {.repetitions = 1, .compares_results = true});
    EXPECT_EQ(elsewhere.moved_buffers, 1U);
    EXPECT_EQ(elsewhere.moved_pointers, 2U) << "of the parameter and of the word";
    EXPECT_THAT(*elsewhere.differences, IsEmpty()) << "pointers in results are changed too";
    EXPECT_EQ(elsewhere.cold->cycles, 10'000);
    EXPECT_TRUE(elsewhere.restored);
    expect_all_closed();
}

TEST_F(MeasureTest, MemoryThatIsElsewhereIsSharedWithNoOther) {
    // The driver puts the first word where the second one was recorded.
    state().kernels_count = true;
    state().taken = 0x6100'0000'0000;
    state().instead = 0x6300'0000'0000;
    constexpr std::uint64_t kSecond = 0x6300'0000'0200;
    auto launch = work(41);
    launch.buffers.push_back(word(9, kSecond));
    launch.results = {word(42), word(9, kSecond)};
    const auto made = measured(launch, {.repetitions = 1, .compares_results = true});
    EXPECT_EQ(made.moved_buffers, 2U);
    EXPECT_THAT(*made.differences, IsEmpty());
    expect_all_closed();
}

TEST_F(MeasureTest, SaysThatMemoryIsNotEnough) {
    fail("cuMemCreate", 2);
    EXPECT_THAT(said([] { (void)measured(work()); }), AllOf(HasSubstr("8 B of device memory for 0x610000000200"),
                                                            HasSubstr("the GPU has too little free memory")));
    EXPECT_EQ(state().reservations, 0);
}

TEST_F(MeasureTest, MemoryOfTheHostIsMappedAtItsAddress) {
    auto launch = work();
    launch.buffers[0].space = device::MemorySpace::host;
    state().kernels_count = true;
    EXPECT_TRUE(measured(launch, {.repetitions = 1}).restored);
    EXPECT_EQ(state().host_registered, 0);
    fail("cuMemHostRegister_v2", 1);
    EXPECT_THAT(said([&] { (void)measured(launch); }), HasSubstr("cuMemHostRegister_v2 (8 B of host memory"));
}

TEST_F(MeasureTest, LaunchesClustersAndCooperativeKernels) {
    auto launch = work();
    launch.cluster = device::Dim3{2, 1, 1};
    launch.cooperative = true;
    EXPECT_EQ(measured(launch, {.repetitions = 1}).cold->cycles, 10'000);
    EXPECT_EQ(state().cooperative, 1);
    EXPECT_EQ(state().cluster[0], 2U);
    EXPECT_EQ(state().large_clusters, 0);
}

TEST_F(MeasureTest, AsksForClustersThatNotEveryGpuHas) {
    auto launch = work();
    launch.cluster = device::Dim3{4, 4, 1};
    static_cast<void>(measured(launch, {.repetitions = 1}));
    EXPECT_EQ(state().large_clusters, 1);
}

TEST_F(MeasureTest, ALaunchThatFailsNamesTheKernelAndTheNextDeviceIsNew) {
    {
        const auto device = open_fake();
        Measurer measurer(*device, {.repetitions = 1});
        fail("cuEventQuery", 700);
        EXPECT_THAT(said([&] { (void)measurer.measure(work()); }),
                    AllOf(HasSubstr("kernel work, grid 2x1x1"), HasSubstr("CUDA_ERROR_ILLEGAL_ADDRESS")));
        fail(nullptr, 0);
        EXPECT_THAT(said([&] { (void)measurer.measure(work()); }), HasSubstr("can't be used any more"));
    }
    EXPECT_EQ(state().context_resets, 1);
    state().kernel_cycles = 21'000;
    EXPECT_EQ(measured(work(), {.repetitions = 1}).cold->cycles, 20'000);
}

TEST_F(MeasureTest, RefusesTexturesAndComparisonsWithoutResults) {
    auto launch = work();
    launch.textures.push_back({.handle = kWord, .object = {}});
    EXPECT_THAT(said<InputError>([&] { (void)measured(launch); }), HasSubstr("texture objects are not restored"));
    EXPECT_THAT(said<InputError>([] { (void)measured(work(), {.compares_results = true}); }),
                HasSubstr("capture it with --results"));
}

}  // namespace
}  // namespace gputomo::answer
