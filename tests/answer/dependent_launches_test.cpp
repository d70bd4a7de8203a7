// Captured launches of kernels/own/dependent, kernels/own/async and kernels/own/streams: which of them are predicted,
// and which simulated with a warning.
#include "answer/answer_text.hpp"
#include "answer/predict.hpp"
#include "answer/simulate.hpp"
#include "capture/capture.hpp"
#include "launch/captured/captured_launch.hpp"
#include "machine/json.hpp"
#include "sim/completion.hpp"
#include "units/error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <stdexcept>
#include <string>

namespace gputomo::answer {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class DependentLaunches : public testing::Test {
protected:
    static void SetUpTestSuite() {
        machine_ = sim::completed(machine::load(GPUTOMO_SOURCE_DIR "/machines/h200.json")).machine;
    }

    static capture::Capture captured(const std::string& kernel) {
        for (const auto& program :
             std::filesystem::directory_iterator(std::filesystem::path(GPUTOMO_SOURCE_DIR) / "recordings" / "own"))
            for (const auto& folder : std::filesystem::directory_iterator(program))
                if (auto capture = capture::load(folder); capture.kernels.front().name == kernel) return capture;
        throw std::runtime_error("no capture of " + kernel);
    }
    static Answer predicted(const std::string& kernel, const launch::Sampling& sampling = {}) {
        const auto capture = captured(kernel);
        return predict(launch::captured_launch(capture, capture.launches.front()), {machine_, "h200"}, sampling);
    }

    static inline machine::Machine machine_;
};

TEST_F(DependentLaunches, QueueIsPredictedFromBlocksThatShareItsPieces) {
    const Answer answer = predicted("work_queue");
    EXPECT_EQ(answer.method, Method::predict);
    EXPECT_EQ(answer.coverage.executed_blocks, 264U);
    EXPECT_THAT(answer.assumptions, Contains(HasSubstr("all blocks were executed together")));
}

TEST_F(DependentLaunches, SimulationsThatWaitSaySoAndOthersDoNot) {
    const auto simulated = [](const std::string& kernel) {
        const auto capture = captured(kernel);
        return simulate(launch::captured_launch(capture, capture.launches.front()), {machine_, "h200"}, {});
    };
    const auto says_so = Contains(HasSubstr("blocks wait for each other through memory"));
    for (const auto* const kernel : {"polled_flag", "lock_in_memory", "grid_barriers", "cooperative_sync"}) {
        const Answer answer = simulated(kernel);
        EXPECT_THAT(answer.warnings, says_so) << kernel;
        EXPECT_FALSE(answer.time.interval) << kernel;
    }
    // They read what other blocks write, and wait for nothing.
    for (const auto* const kernel : {"work_queue", "last_block_sums", "atomic_sums"})
        EXPECT_THAT(simulated(kernel).warnings, Not(says_so)) << kernel;
    // The warning of a prediction that was simulated says it already.
    EXPECT_THAT(predicted("polled_flag").warnings, Not(says_so));
}

TEST_F(DependentLaunches, WaitsAreSimulatedWithAWarningThatSaysWhy) {
    for (const auto* const kernel :
         {"chained_sums", "polled_flag", "lock_in_memory", "grid_barriers", "cooperative_sync"}) {
        const Answer answer = predicted(kernel);
        EXPECT_EQ(answer.method, Method::simulate) << kernel;
        EXPECT_GT(answer.time.cycles, 3000) << kernel;
        EXPECT_THAT(answer.warnings, Contains(AllOf(HasSubstr("simulated, not predicted"), HasSubstr("block"))))
            << kernel;
    }
}

TEST_F(DependentLaunches, WaitsForBulkCopiesAreReplayedAsTheyDepend) {
    const Answer answer = predicted("bulk_copies");
    EXPECT_EQ(answer.method, Method::predict);
    const auto capture = captured("bulk_copies");
    const Answer simulated =
        simulate(launch::captured_launch(capture, capture.launches.front()), {machine_, "h200"}, {});
    // All blocks copy eight parts one after the other, two at a time.
    EXPECT_NEAR(answer.time.cycles / simulated.time.cycles, 1, 0.1);
}

TEST_F(DependentLaunches, WaitsOfTooManyInstructionsAreRefusedByName) {
    try {
        (void)predicted("grid_barriers", {.most_simulated = 10'000});
        FAIL() << "it executes more";
    } catch (const InputError& error) {
        EXPECT_THAT(error.what(), AllOf(HasSubstr("kernel 'grid_barriers'"), HasSubstr("more than 10000 warp"),
                                        HasSubstr("--time-limit")));
    }
}

TEST_F(DependentLaunches, OrdinaryKernelsArePredictedWithoutAWarning) {
    for (const auto* const kernel :
         {"add_arrays", "read_only", "stencil", "sgemm_registers", "tile_product", "histogram_shared", "atomic_sums"}) {
        const Answer answer = predicted(kernel);
        EXPECT_EQ(answer.method, Method::predict) << kernel;
        EXPECT_THAT(answer.warnings, Not(Contains(HasSubstr("other block")))) << kernel;
    }
    EXPECT_THAT(predicted("add_arrays").warnings, IsEmpty());
}

TEST_F(DependentLaunches, DoubtsNameTheirReason) {
    EXPECT_THAT(predicted("register_spills").warnings, Contains(HasSubstr("local memory")));
    // The description says where instructions come from, and how far lines of DRAM are apart.
    EXPECT_THAT(predicted("big_footprint").warnings, Not(Contains(HasSubstr("KiB of code are executed"))));
    EXPECT_THAT(predicted("rows_by_lane").warnings, Not(Contains(HasSubstr("The slowest line"))));
}

}  // namespace
}  // namespace gputomo::answer
