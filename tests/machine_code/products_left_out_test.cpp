// Launches that are simulated without computing their products of matrices.
#include "launched.hpp"
#include "sim/machine_code/unknown_values.hpp"

#include <gmock/gmock.h>

namespace gputomo::sim {
namespace products_left_out_test {
namespace {

constexpr std::uint32_t kThreads = 32;

/// A GPU that has run nothing.
struct Gpu {
    /// Runs a cluster of two blocks.
    void run(const std::string& kernel, bool computes) {
        fixture.gpu->compute_products(computes);
        device::Launch launch{.grid = {2}, .block = {kThreads}, .time_limit = std::chrono::seconds(60)};
        launch.arguments.add(buffer.address());
        fixture.module->kernel(kernel).launch(launch);
    }

    Fixture fixture{"cluster_products.cubin"};
    device::Buffer buffer{*fixture.gpu, Bytes(4 * kThreads)};
};

TEST(ProductsLeftOut, ChangeNoTime) {
    Gpu computes, leaves_out;
    computes.run("keeps", true);
    EXPECT_THAT(computes.buffer.read<float>(kThreads), testing::Each(16.0F));
    leaves_out.run("keeps", false);
    EXPECT_EQ(leaves_out.fixture.gpu->counters().cycles, computes.fixture.gpu->counters().cycles);
    EXPECT_EQ(leaves_out.fixture.gpu->counters().thread_instructions,
              computes.fixture.gpu->counters().thread_instructions);
    EXPECT_THAT([&] { (void)leaves_out.buffer.read<float>(kThreads); },
                testing::ThrowsMessage<DeviceError>(testing::HasSubstr("products of matrices were not computed")));
}

TEST(ProductsLeftOut, AreNeededWhereBlocksOfAClusterPassThem) {
    for (const std::string kernel : {"hands", "fetches"}) {
        EXPECT_THAT([&] { Gpu().run(kernel, false); }, testing::ThrowsMessage<machine_code::NeedsProducts>(
                                                           testing::HasSubstr("shared memory of another block")))
            << kernel;
        Gpu computes;
        computes.run(kernel, true);
        EXPECT_THAT(computes.buffer.read<float>(kThreads), testing::Each(16.0F)) << kernel;
    }
}

}  // namespace
}  // namespace products_left_out_test
}  // namespace gputomo::sim
