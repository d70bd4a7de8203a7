// FP32 matrix products beside what an H100 took for them.
#include "answer/predict.hpp"
#include "capture/capture.hpp"
#include "launch/captured/captured_launch.hpp"
#include "machine/json.hpp"
#include "sim/completion.hpp"

#include <gtest/gtest.h>

#include <array>

namespace gputomo::answer {
namespace {

/// gpc__cycles_elapsed.max of Nsight Compute, median of four launches on an H100 (132 SMs, as an H200).
constexpr std::array kMeasured{289'800.0, 196'600.0};
constexpr double kWithin = 0.1;

TEST(MatrixProducts, ArePredictedWithinTenPercent) {
    const auto capture = capture::load(GPUTOMO_SOURCE_DIR "/tests/answer/fixtures/sgemm");
    const auto h200 = sim::completed(machine::load(GPUTOMO_SOURCE_DIR "/machines/h200.json")).machine;
    ASSERT_EQ(capture.launches.size(), kMeasured.size());
    for (std::size_t i = 0; i < kMeasured.size(); ++i) {
        const auto found = predict(launch::captured_launch(capture, capture.launches[i]), {h200, "h200"}, {});
        EXPECT_NEAR(found.time.cycles / kMeasured[i], 1, kWithin) << found.launch.kernel;
    }
}

}  // namespace
}  // namespace gputomo::answer
