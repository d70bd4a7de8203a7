// Launches whose atomics meet, beside what an H200 took for them: captures of kernels/own/atomics.
#include "answer/predict.hpp"
#include "answer/simulate.hpp"
#include "capture/capture.hpp"
#include "launch/captured/captured_launch.hpp"
#include "machine/json.hpp"
#include "sim/completion.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <string>

namespace gputomo::answer {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

machine::Machine h200() { return sim::completed(machine::load(GPUTOMO_SOURCE_DIR "/machines/h200.json")).machine; }

/// An H200 of which no scan has timed atomics that meet.
machine::Machine without_units() {
    auto machine = h200();
    machine.accesses.at("l2_atomic").units = {};
    return machine;
}

/// The launch reads its memory from the capture.
struct Captured {
    explicit Captured(const std::string& folder)
        : capture(capture::load(std::string(GPUTOMO_SOURCE_DIR) + "/recordings/own/atomics/" + folder)),
          launch(launch::captured_launch(capture, capture.launches.at(0))) {}

    const capture::Capture capture;
    const launch::Launch launch;
};

struct Measured {
    std::string folder;
    double cycles = 0;  ///< gpc__cycles_elapsed.max, median of five (suites/own.json)
};
/// Floats to one address.
const Measured kOneAddress{"e2f886e22814", 117'512};

TEST(MetAtomics, OfFloatsOnOneAddressLimitTheLaunch) {
    const Captured captured(kOneAddress.folder);
    const auto predicted = predict(captured.launch, {h200(), "h200"}, {});
    EXPECT_NEAR(predicted.time.cycles / kOneAddress.cycles, 1, 0.1);
    ASSERT_TRUE(predicted.limiter);
    EXPECT_EQ(predicted.limiter->resource, "atomics to one sector");
    EXPECT_NEAR(simulate(captured.launch, {h200(), "h200"}, {}).time.cycles / kOneAddress.cycles, 1, 0.1);
}

TEST(MetAtomics, WhoseTimeIsNotDescribedAreWarnedOf) {
    const Captured captured(kOneAddress.folder);
    for (const Answer& found : {predict(captured.launch, {without_units(), "h200"}, {}),
                                simulate(captured.launch, {without_units(), "h200"}, {})}) {
        EXPECT_THAT(found.warnings, Contains(HasSubstr("The experiment atomic_contention finds it")));
        EXPECT_THAT(found.assumptions, Contains(HasSubstr("accesses.l2_atomic.units")));
    }
}

/// Integers to 2^20 addresses, which hardly meet.
TEST(MetAtomics, ThatAreFewNeedNoWarning) {
    const Captured captured("982eceda1950");
    const auto found = predict(captured.launch, {without_units(), "h200"}, {});
    EXPECT_THAT(found.warnings, Not(Contains(HasSubstr("meet"))));
}

/// Loops of compare and swap, in global memory (swap_loop) and in shared memory (shared_one).
TEST(MetAtomics, OfLoopsThatBeginAgainAreWarnedOf) {
    for (const std::string folder : {"4e76653dbcf7", "7fbab5d27552"}) {
        const Captured captured(folder);
        EXPECT_THAT(predict(captured.launch, {h200(), "h200"}, {}).warnings, Contains(HasSubstr("compare-and-swap")));
        EXPECT_THAT(simulate(captured.launch, {h200(), "h200"}, {}).warnings, Contains(HasSubstr("compare-and-swap")));
    }
}

/// Four warps add floats to one address of shared memory. The profiler counted 423,852 warp instructions, of which a
/// third are left where no warp comes between the load and the swap of another one.
TEST(MetAtomics, OfWarpsThatSwapInTurnsBeginAgain) {
    const Captured captured("7fbab5d27552");
    EXPECT_GT(predict(captured.launch, {h200(), "h200"}, {}).work.warp_instructions, 0.6 * 423'852);
}

}  // namespace
}  // namespace gputomo::answer
