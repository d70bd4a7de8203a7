// The captured launch of kernels/warpgroup/wgmma_half.cu, a product of 2048 x 2048 x 1024 halves, which an H200 ran in
// 77,884 cycles (median of 11 with cold caches, `gputomo measure`).
#include "answer/predict.hpp"
#include "capture/capture.hpp"
#include "launch/captured/captured_launch.hpp"
#include "machine/json.hpp"
#include "sim/completion.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gputomo::answer {
namespace warpgroup_products_test {
namespace {

constexpr double kMeasured = 77'884;
/// Predicted blocks wait at a fence for copies from memory, which an H200's launches with cold and with warm caches do
/// not show: they take equally long.
constexpr double kTolerance = 0.2;

Answer predicted(const machine::Machine& machine) {
    const auto capture = capture::load(GPUTOMO_SOURCE_DIR "/recordings/warpgroup/wgmma_half");
    // A few blocks are enough: all of them do the same.
    return predict(launch::captured_launch(capture, capture.launches.front()), {machine, "h200"}, {.most_blocks = 8});
}

TEST(WarpgroupProducts, ArePredictedAsAnH200TakesThem) {
    const auto machine = sim::completed(machine::load(GPUTOMO_SOURCE_DIR "/machines/h200.json")).machine;
    const Answer answer = predicted(machine);
    EXPECT_EQ(answer.method, Method::predict);
    EXPECT_NEAR(answer.time.cycles, kMeasured, kTolerance * kMeasured);
    EXPECT_NEAR(answer.work.warp_instructions, 10'688'512, 1000);
    EXPECT_THAT(answer.assumptions, testing::Not(testing::Contains(testing::HasSubstr("HGMMA"))));
}

}  // namespace
}  // namespace warpgroup_products_test
}  // namespace gputomo::answer
