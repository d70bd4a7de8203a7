// Compiles, loads and launches kernels: messages name call and kernel, and a failed device stays failed.
#include "fake_device.hpp"

#include "device/cuda/compiler.hpp"

#include <chrono>
#include <cstdint>
#include <string>

namespace gputomo::device::cuda {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::said;

constexpr const char* kPtx = ".version 7.0\n.global table;\n.entry chase(\n";

class LaunchTest : public testing::FakeDriverTest {
protected:
    static Launch two_blocks() {
        Launch launch{.grid = {2}, .block = {32}};
        launch.arguments.add(std::uint64_t{1}).add(std::uint32_t{2});
        return launch;
    }
};

TEST_F(LaunchTest, RunsAndTimesAKernel) {
    {
        const auto device = open_fake();
        const auto module = device->load(kPtx);
        auto& kernel = module->kernel("chase");
        EXPECT_EQ(kernel.launch(two_blocks()).elapsed, Nanoseconds(250'000));
        EXPECT_EQ(state().launched_bytes, 12U);
        EXPECT_EQ(&module->kernel("chase"), &kernel);
        EXPECT_EQ(kernel.properties().registers_per_thread, 24);
        EXPECT_EQ(kernel.properties().static_shared, Bytes{512});
        EXPECT_EQ(kernel.properties().local_per_thread, Bytes{16});
        EXPECT_EQ(kernel.properties().max_threads_per_block, 1024);
    }
    expect_all_closed();
}

TEST_F(LaunchTest, ModuleHasTheCodeOfTheLinker) {
    const auto module = open_fake()->load(kPtx);
    ASSERT_TRUE(module->machine_code().has_value());
    const auto& cubin = module->machine_code()->cubin;
    EXPECT_EQ(std::string(reinterpret_cast<const char*>(cubin.data()), cubin.size()), std::string(kPtx) + '\0');
}

TEST_F(LaunchTest, ModulesOutliveTheDeviceTheyCameFrom) {
    {
        auto device = open_fake();
        const auto module = device->load(kPtx);
        device.reset();
        EXPECT_NO_THROW(module->kernel("chase").launch(two_blocks()));
    }
    expect_all_closed();
}

TEST_F(LaunchTest, NamesMissingKernelsAndVariables) {
    const auto module = open_fake()->load(kPtx);
    EXPECT_THAT(said<InputError>([&] { (void)module->kernel("walk"); }), HasSubstr("no kernel 'walk'"));
    EXPECT_THAT(said<InputError>([&] { (void)module->symbol("list"); }), HasSubstr("no variable 'list'"));
    EXPECT_EQ(module->symbol("table").size, Bytes{64});
}

TEST_F(LaunchTest, FailingCallIsNamedWithKernelAndLaunch) {
    const auto module = open_fake()->load(kPtx);
    auto& kernel = module->kernel("chase");
    for (const char* call : {"cuEventRecord", "cuLaunchKernel", "cuEventElapsedTime"}) {
        fail(call, 701);
        EXPECT_THAT(
            said([&] { (void)kernel.launch(two_blocks()); }),
            AllOf(HasSubstr(std::string("cuda:0: ") + call), HasSubstr("kernel chase, grid 2x1x1, block 32x1x1"),
                  HasSubstr("CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES (701): too many resources requested for launch")));
        EXPECT_EQ(state().events, 0);
    }
    fail("cuFuncGetAttribute", 1);
    EXPECT_THAT(said([&] { (void)open_fake()->load(kPtx)->kernel("chase"); }),
                AllOf(HasSubstr("cuFuncGetAttribute"), HasSubstr("kernel chase, registers")));
    fail(nullptr, 0);
    EXPECT_NO_THROW(kernel.launch(two_blocks()));
}

TEST_F(LaunchTest, RefusesArgumentsThatDoNotFit) {
    const auto module = open_fake()->load(kPtx);
    auto& kernel = module->kernel("chase");
    Launch one;
    one.arguments.add(std::uint64_t{1});
    EXPECT_THAT(said([&] { (void)kernel.launch(one); }),
                HasSubstr("kernel chase takes 2 parameters; 1 arguments were given"));
    Launch narrow;
    narrow.arguments.add(std::uint32_t{1}).add(std::uint32_t{2});
    EXPECT_THAT(said([&] { (void)kernel.launch(narrow); }),
                AllOf(HasSubstr("parameter 0: expected 8 bytes at offset 0"), HasSubstr("has 4 bytes")));
    EXPECT_EQ(state().events, 0);
}

TEST_F(LaunchTest, OptsInToLargeDynamicSharedMemory) {
    const auto module = open_fake()->load(kPtx);
    auto& kernel = module->kernel("chase");
    auto launch = two_blocks();
    launch.dynamic_shared = Bytes{1024};
    kernel.launch(launch);
    EXPECT_EQ(state().dynamic_shared_allowed, 0) << "a size that every kernel may use needs no opt-in";
    launch.dynamic_shared = 64_KiB;
    kernel.launch(launch);
    EXPECT_EQ(state().dynamic_shared_allowed, 65536);
    launch.dynamic_shared = Bytes{70000};
    fail("cuFuncSetAttribute", 1);
    EXPECT_THAT(said([&] { (void)kernel.launch(launch); }),
                AllOf(HasSubstr("cuFuncSetAttribute"), HasSubstr("70000 B dynamic shared memory")));
}

TEST_F(LaunchTest, SmallestCarveOutHoldsOneBlock) {
    const auto module = open_fake()->load(kPtx);
    auto& kernel = module->kernel("chase");
    auto launch = two_blocks();
    kernel.launch(launch);
    EXPECT_EQ(state().carveout, -2) << "left to the driver";
    launch.prefer_l1 = true;
    launch.dynamic_shared = Bytes{7 * 1024};
    kernel.launch(launch);
    EXPECT_EQ(state().carveout, 9) << "7.5 KiB and the reserved 1 KiB of 100 KiB";
    launch.prefer_l1 = false;
    kernel.launch(launch);
    EXPECT_EQ(state().carveout, -1);
}

TEST_F(LaunchTest, EndlessKernelHitsItsTimeLimitAndEndsTheDevice) {
    state().kernels_end = false;
    auto device = open_fake();
    auto module = device->load(kPtx);
    auto& kernel = module->kernel("chase");
    auto launch = two_blocks();
    launch.time_limit = std::chrono::milliseconds(20);
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_THAT(said<TimeLimitError>([&] { (void)kernel.launch(launch); }),
                AllOf(HasSubstr("cuda:0: kernel chase"), HasSubstr("did not end within its time limit of 20 ms")));
    const auto waited = std::chrono::steady_clock::now() - begin;
    EXPECT_GE(waited, launch.time_limit);
    EXPECT_LT(waited, std::chrono::seconds(5));
    state().kernels_end = true;
    const int calls = state().calls;
    EXPECT_THAT(said([&] { (void)kernel.launch(launch); }),
                AllOf(HasSubstr("refused"), HasSubstr("time limit of 20 ms")));
    EXPECT_THAT(said([&] { (void)device->allocate(Bytes{16}); }), HasSubstr("cuMemAlloc_v2 refused"));
    EXPECT_EQ(device->mapping_granularity(), Bytes{0});
    module.reset();
    device.reset();
    EXPECT_EQ(state().calls, calls) << "a driver that waits for the kernel would never return";
}

TEST_F(LaunchTest, FatalContextErrorEndsTheDevice) {
    const auto device = open_fake();
    const auto module = device->load(kPtx);
    auto& kernel = module->kernel("chase");
    fail("cuEventQuery", 700);
    EXPECT_THAT(
        said([&] { (void)kernel.launch(two_blocks()); }),
        AllOf(HasSubstr("kernel chase"), HasSubstr("CUDA_ERROR_ILLEGAL_ADDRESS (700)"), HasSubstr("does not survive")));
    fail(nullptr, 0);
    EXPECT_THAT(said([&] { (void)kernel.launch(two_blocks()); }),
                AllOf(HasSubstr("launch of kernel chase"), HasSubstr("refused"), HasSubstr("700")));
    EXPECT_THAT(said([&] { (void)device->load(kPtx); }), HasSubstr("compiling PTX refused"));
}

TEST_F(LaunchTest, QuotesPtxThatDoesNotCompileWithTheLog) {
    const auto device = open_fake();
    EXPECT_THAT(said([&] { (void)device->load(".version 7.0\n.entry chase()\n  nonsense %r1;\n"); }),
                AllOf(HasSubstr("cuLinkAddData_v2 failed: CUDA_ERROR_INVALID_PTX (218)"),
                      HasSubstr("kernel.ptx, line 3; error"), HasSubstr("line 3:   nonsense %r1;")));
    EXPECT_EQ(state().links, 0);
    EXPECT_NO_THROW((void)device->load(kPtx));
    fail("cuLinkComplete", 2);
    EXPECT_THAT(said([&] { (void)device->load(kPtx); }),
                AllOf(HasSubstr("cuLinkComplete"), HasSubstr("the compiler gives no log")));
    fail("cuModuleLoadData", 2);
    EXPECT_THAT(said([&] { (void)device->load(kPtx); }), HasSubstr("cuModuleLoadData"));
    EXPECT_EQ(state().links + state().modules, 0);
}

TEST_F(LaunchTest, CompilesAheadOnlyOnce) {
    constexpr int kPrograms = 40;
    const auto ptx = [](int i) { return kPtx + std::string(") // ") + std::to_string(i); };
    {
        const auto device = open_fake();
        EXPECT_TRUE(device->compiles_ahead());
        for (int i = 0; i < kPrograms; ++i) device->compile_ahead(ptx(i));
        for (int i = 0; i < kPrograms; ++i) EXPECT_NO_THROW((void)device->load(ptx(i))->kernel("chase"));
        EXPECT_EQ(state().compiled, kPrograms);
        EXPECT_NO_THROW((void)device->load(ptx(0)));
        EXPECT_EQ(state().compiled, kPrograms + 1);
        for (int i = 0; i < kPrograms; ++i) device->compile_ahead(ptx(i));  // and never loaded
    }
    expect_all_closed();
}

TEST_F(LaunchTest, CompileAheadErrorsAppearAtLoad) {
    const std::string wrong = ".version 7.0\n.entry chase()\n  nonsense %r1;\n";
    const auto device = open_fake();
    device->compile_ahead(wrong);
    EXPECT_NO_THROW((void)device->load(kPtx));
    EXPECT_THAT(said([&] { (void)device->load(wrong); }), HasSubstr("line 3:   nonsense %r1;"));
    EXPECT_NO_THROW((void)device->load(kPtx));
}

TEST(QuoteLinesTest, QuotesTheLinesThatTheLogNames) {
    EXPECT_EQ(quote_lines("line 2; error", "a\nb\nc"), "  line 2: b\n");
    EXPECT_EQ(quote_lines("line 9 and line 0 and line x", "a\nb\nc"), "");
    EXPECT_EQ(quote_lines("", "a"), "");
    std::string log;
    std::string ptx;
    for (int i = 1; i <= 9; ++i) {
        log += "line " + std::to_string(i) + "\n";
        ptx += "text " + std::to_string(i) + "\n";
    }
    EXPECT_THAT(quote_lines(log, ptx), AllOf(HasSubstr("line 5: text 5"), Not(HasSubstr("text 6"))));
    EXPECT_LT(quote_lines("line 1", std::string(5000, 'x')).size(), 200U);
}

}  // namespace
}  // namespace gputomo::device::cuda
