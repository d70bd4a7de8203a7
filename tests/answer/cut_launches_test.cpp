// Launches of few long blocks, whose simulation ends within the blocks.
#include "answer/simulate.hpp"
#include "capture/capture.hpp"
#include "launch/captured/captured_launch.hpp"
#include "machine/json.hpp"
#include "sim/completion.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>

namespace gputomo::answer {
namespace {

Answer simulated(const std::string& recording, std::optional<std::uint64_t> above) {
    static const auto machine = sim::completed(machine::load(GPUTOMO_SOURCE_DIR "/machines/h200.json")).machine;
    const auto captured = capture::load(GPUTOMO_SOURCE_DIR "/recordings/own/hostile/" + recording);
    SimulationRequest request;
    if (above) request.sampling = sim::SamplingPlan{*above};
    return simulate(launch::captured_launch(captured, captured.launches[0]), {machine, "sim:h200"}, request);
}

TEST(CutLaunches, OneWaveIsEstimatedFromItsBeginning) {
    const auto whole = simulated("51f064845944", {});
    const auto cut = simulated("51f064845944", 300'000);
    EXPECT_EQ(whole.coverage.timed_blocks, whole.coverage.blocks);
    EXPECT_LT(cut.coverage.timed_blocks, whole.coverage.blocks / 4);
    EXPECT_GT(*cut.coverage.error, 0);
    EXPECT_NEAR(cut.time.cycles, whole.time.cycles, 0.1 * whole.time.cycles);
    EXPECT_NEAR(cut.work.warp_instructions, whole.work.warp_instructions, 0.001 * whole.work.warp_instructions);
    double executed = 0;
    for (const auto& instruction : cut.instructions) executed += instruction.executed;
    EXPECT_NEAR(executed, whole.work.warp_instructions, 0.05 * whole.work.warp_instructions);
}

TEST(CutLaunches, BlocksThatDifferAreSimulatedWhole) {
    const auto uneven = simulated("bc73d3a30ac0", 500'000);
    EXPECT_EQ(uneven.coverage.timed_blocks, uneven.coverage.blocks);
    EXPECT_EQ(*uneven.coverage.error, 0);
}

}  // namespace
}  // namespace gputomo::answer
