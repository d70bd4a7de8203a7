// A launch whose warps call several functions at once, beside what a profiler counted.
#include "answer/predict.hpp"
#include "answer/simulate.hpp"
#include "capture/capture.hpp"
#include "launch/captured/captured_launch.hpp"
#include "machine/json.hpp"
#include "sim/completion.hpp"

#include <gtest/gtest.h>

namespace gputomo::answer {
namespace {

/// smsp__inst_executed.sum of hostile/indirect_calls on an H200. Three in a hundred are further issues of the calls.
constexpr double kCounted = 979'968;

TEST(IndirectCalls, AreIssuedOnceForEachFunction) {
    const auto capture = capture::load(GPUTOMO_SOURCE_DIR "/recordings/own/hostile/d7b15033918a");
    const auto launch = launch::captured_launch(capture, capture.launches.at(0));
    const auto machine = sim::completed(machine::load(GPUTOMO_SOURCE_DIR "/machines/h200.json")).machine;
    EXPECT_NEAR(predict(launch, {machine, "h200"}, {}).work.warp_instructions / kCounted, 1, 0.02);
    EXPECT_NEAR(simulate(launch, {machine, "h200"}, {}).work.warp_instructions / kCounted, 1, 0.02);
}

}  // namespace
}  // namespace gputomo::answer
