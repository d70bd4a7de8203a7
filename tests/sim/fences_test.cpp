// How long fences hold a warp, by what the description says.
#include "costs/fences.hpp"
#include "machine/json.hpp"

#include <gtest/gtest.h>

namespace gputomo::costs {
namespace {

FenceSpec h200() { return fence_spec_of(machine::load(GPUTOMO_SOURCE_DIR "/machines/h200.json")); }

TEST(Fences, TakeTheTimeThatIsDescribed) {
    const auto machine = machine::load(GPUTOMO_SOURCE_DIR "/machines/h200.json");
    const FenceSpec spec = h200();
    ASSERT_TRUE(spec.described);
    const auto whole = static_cast<double>(*machine.operations.at("fence.acq_rel.gpu").latency);
    EXPECT_NEAR(spec.gpu + spec.errors, whole, 10);
    EXPECT_GT(spec.errors, 50);
    EXPECT_GT(spec.system, 3 * spec.gpu);
}

TEST(Fences, BeginWhenStoresAreAcknowledgedAndEndBehindLoads) {
    FenceSpec spec{.described = true, .gpu = 100, .acknowledged = 300};
    EXPECT_EQ(spec.end(spec.gpu, 1000, 0, 0), 1100) << "nothing in flight";
    EXPECT_EQ(spec.end(spec.gpu, 1000, 1250, 0), 1250) << "a load that ends later";
    EXPECT_EQ(spec.end(spec.gpu, 1000, 0, 990), 1390) << "a store that has just left";
    EXPECT_EQ(spec.end(spec.gpu, 1000, 0, 500), 1100) << "a store that has long arrived";
}

TEST(Fences, AreNotDescribedWithoutTheirLeaf) {
    EXPECT_FALSE(fence_spec_of({}).described);
    auto machine = machine::load(GPUTOMO_SOURCE_DIR "/machines/h200.json");
    machine.operations.erase("fence.proxy.async");
    const FenceSpec spec = fence_spec_of(machine);
    EXPECT_EQ(spec.errors, 0) << "the whole time is that of MEMBAR";
    EXPECT_NEAR(spec.gpu, static_cast<double>(*machine.operations.at("fence.acq_rel.gpu").latency), 3);
}

}  // namespace
}  // namespace gputomo::costs
