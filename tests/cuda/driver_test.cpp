// Loads the driver and opens GPUs: missing parts and their error messages.
#include "fake_device.hpp"

#include <cstdint>
#include <tuple>

namespace gputomo::device::cuda {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::said;

class DriverTest : public testing::FakeDriverTest {};

TEST_F(DriverTest, NamesAMissingLibrary) {
    const Libraries none{testing::kNoLibrary, testing::kNoLibrary};
    EXPECT_THAT(said([&] { (void)open(0, none); }), AllOf(HasSubstr("no CUDA driver"), HasSubstr(testing::kNoLibrary),
                                                          HasSubstr("expected an installed NVIDIA driver")));
    EXPECT_EQ(count(none), 0);
    EXPECT_THAT(presence(none).reason, HasSubstr(testing::kNoLibrary));
}

TEST_F(DriverTest, NamesAMissingCall) {
    const Libraries incomplete{GPUTOMO_FAKE_CUDA_INCOMPLETE, testing::kNoLibrary};
    EXPECT_THAT(said([&] { (void)open(0, incomplete); }),
                AllOf(HasSubstr(GPUTOMO_FAKE_CUDA_INCOMPLETE), HasSubstr("has no cuLinkComplete")));
}

TEST_F(DriverTest, QuotesTheDriverIfInitFails) {
    fail("cuInit", 2);
    EXPECT_THAT(said([] { (void)open_fake(); }),
                AllOf(HasSubstr("cuInit"), HasSubstr("CUDA_ERROR_OUT_OF_MEMORY (2): out of memory")));
    fail("cuInit", 12345);
    EXPECT_THAT(said([] { (void)open_fake(); }),
                HasSubstr("unknown CUDA error (12345): the driver has no text for it"));
}

TEST_F(DriverTest, OpensNothingWithoutAGpu) {
    state().devices = 0;
    EXPECT_EQ(presence(testing::kFake).count, 0);
    EXPECT_THAT(presence(testing::kFake).reason, HasSubstr("finds no GPU"));
    EXPECT_THAT(said([] { (void)open_fake(); }), AllOf(HasSubstr("cuda:0"), HasSubstr("finds no GPU")));
}

TEST_F(DriverTest, InvalidIndexListsTheValidOnes) {
    EXPECT_THAT(said([] { (void)open(1, testing::kFake); }),
                AllOf(HasSubstr("cuda:1: no such GPU"), HasSubstr("cuda:0, the only GPU")));
    state().devices = 2;
    EXPECT_THAT(said([] { (void)open(2, testing::kFake); }), HasSubstr("expected cuda:0 to cuda:1, there are 2 GPUs"));
    EXPECT_THAT(said([] { (void)open(-1, testing::kFake); }), HasSubstr("cuda:-1: no such GPU"));
    EXPECT_THAT(said([] { (void)name(7, testing::kFake); }), HasSubstr("cuda:7: no such GPU"));
    EXPECT_EQ(count(testing::kFake), 2);
    EXPECT_EQ(name(1, testing::kFake), "Fake GPU 1");
}

TEST_F(DriverTest, FailureWhileOpeningLeavesNothingOpen) {
    for (const char* call : {"cuDevicePrimaryCtxRetain", "cuCtxSetCurrent", "cuStreamCreate"}) {
        fail(call, 2);
        EXPECT_THAT(said([] { (void)open_fake(); }), HasSubstr(call));
        expect_all_closed();
    }
}

TEST_F(DriverTest, PtxTargetFollowsDriverAndGpu) {
    const auto target = [](int driver, int major, int minor) {
        const auto found = ptx_target(driver, major, minor);
        return std::tuple(found.version_major, found.version_minor, found.sm);
    };
    EXPECT_EQ(target(13000, 9, 0), std::tuple(9, 0, 90));
    EXPECT_EQ(target(12040, 12, 0), std::tuple(8, 4, 90)) << "a driver older than the GPU compiles for an older one";
    EXPECT_EQ(target(11080, 7, 5), std::tuple(7, 8, 75));
    EXPECT_EQ(target(99000, 8, 6), std::tuple(9, 0, 86)) << "a newer driver accepts older PTX";
    state().driver_version = 11040;
    state().compute_major = 8;
    state().compute_minor = 6;
    EXPECT_EQ(open_fake()->ptx_target().sm, 86);
}

TEST_F(DriverTest, WorksWithAnOlderDriverThatLacksSomeCalls) {
    auto& old = testing::state_of(GPUTOMO_FAKE_CUDA_OLD);
    old = {};
    {
        const auto device = open(0, Libraries{GPUTOMO_FAKE_CUDA_OLD, testing::kNoLibrary});
        EXPECT_EQ(device->mapping_granularity(), Bytes{0});
        EXPECT_THAT(said([&] { (void)device->map_aliased(Bytes{4096}, Bytes{4096}, Bytes{8192}); }),
                    HasSubstr("no virtual memory management"));
        const auto module = device->load(".entry k()");
        Launch launch;
        launch.arguments.add(std::uint32_t{1});
        EXPECT_EQ(module->kernel("k").launch(launch).elapsed, Nanoseconds(250'000)) << "arguments aren't checked";
    }
    EXPECT_EQ(old.contexts, 0);
}

}  // namespace
}  // namespace gputomo::device::cuda
