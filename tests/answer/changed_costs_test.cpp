// What docs/changing-costs.md says of leaves: which commands' answers change with each.
#include "answer/predict.hpp"
#include "answer/simulate.hpp"
#include "capture/capture.hpp"
#include "launch/captured/captured_launch.hpp"
#include "machine/json.hpp"
#include "sim/completion.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <string>

namespace gputomo::answer::changed_costs {
namespace {

using Change = std::function<void(machine::Machine&)>;

machine::Machine h200(const Change& change = {}) {
    auto machine = sim::completed(machine::load(GPUTOMO_SOURCE_DIR "/machines/h200.json")).machine;
    if (change) change(machine);
    return machine;
}

struct Times {
    double simulated = 0, predicted = 0;  ///< cycles
};

/// A captured launch of kernels/own, answered by both commands.
class Captured {
public:
    explicit Captured(const std::string& folder)
        : capture_(capture::load(GPUTOMO_SOURCE_DIR "/recordings/own/" + folder)),
          launch_(launch::captured_launch(capture_, capture_.launches.at(0))) {
        launch_.grid = {kBlocks, 1, 1};
    }

    [[nodiscard]] Times with(const Change& change) const {
        const auto machine = h200(change);
        return {simulate(launch_, {machine, "h200"}, {}).time.cycles,
                predict(launch_, {machine, "h200"}, {}).time.cycles};
    }
    /// Cycles with the change over those without.
    [[nodiscard]] Times ratios(const Change& change) const {
        const Times before = with({}), after = with(change);
        return {after.simulated / before.simulated, after.predicted / before.predicted};
    }

private:
    static constexpr std::uint32_t kBlocks = 4;  ///< enough, because each kernel is limited within an SM

    const capture::Capture capture_;
    launch::Launch launch_;
};

const std::string kConflicts = "shared/a8c2d92c80e9";  ///< bank_conflicts
const std::string kSums = "shared/4bc1ab17431a";       ///< block_sums, through shared memory with barriers
const std::string kTile = "matrix/5c61105077a0";       ///< tile_product, two loads for a product
const std::string kHalf = "matrix/0f0bf634899c";       ///< mma_half, which the tensor cores limit
const std::string kDouble = "matrix/96ddd68dd47e";     ///< mma_double

TEST(ChangedCosts, LatencyOfSharedMemory) {
    const auto slower = Captured(kSums).ratios([](auto& machine) {
        machine.shared.latency.set(*machine.shared.latency + 100);
        machine.shared.forward_latency.set(*machine.shared.forward_latency + 100);
    });
    EXPECT_GT(slower.simulated, 1.02);
    EXPECT_GT(slower.predicted, 1.02);
}

TEST(ChangedCosts, RateOfSharedMemory) {
    const auto slower = Captured(kConflicts).ratios([](auto& machine) {
        machine.shared.bytes_per_cycle.set(*machine.shared.bytes_per_cycle / 2);
    });
    EXPECT_GT(slower.simulated, 1.5) << "less than 2, because a launch also begins and ends";
    EXPECT_GT(slower.predicted, 1.5);
    EXPECT_NEAR(slower.predicted / slower.simulated, 1, 0.02);
}

TEST(ChangedCosts, CostOfAConflict) {
    const auto slower = Captured(kConflicts).ratios([](auto& machine) { machine.shared.conflict_cost.set(200); });
    EXPECT_GT(slower.simulated, 1.02);
    EXPECT_GT(slower.predicted, 1.02);
}

TEST(ChangedCosts, ConflictsCountByTheWidthOfABank) {
    const auto faster = Captured(kConflicts).ratios([](auto& machine) { machine.shared.bank_width.set(8); });
    EXPECT_LT(faster.simulated, 0.9);
    EXPECT_LT(faster.predicted, 0.9);
}

TEST(ChangedCosts, IssueSlotsOfSharedMemory) {
    const auto slower = Captured(kTile).ratios([](auto& machine) { machine.shared.issue_slots.set(60); });
    EXPECT_GT(slower.simulated, 1.05);
    EXPECT_GT(slower.predicted, 1.05);
}

TEST(ChangedCosts, RateOfTensorCores) {
    const auto slower = Captured(kHalf).ratios([](auto& machine) {
        auto& tensor = machine.pipelines.at("tensor");
        tensor.lanes.set(*tensor.lanes / 4);
    });
    EXPECT_GT(slower.simulated, 2) << "less than 4, because a launch also begins and ends";
    EXPECT_GT(slower.predicted, 2);
    EXPECT_NEAR(slower.predicted / slower.simulated, 1, 0.02);
}

/// ptxas gives products of halves a stall count and no write barrier, so their latency is a fact of the code.
TEST(ChangedCosts, LatencyOfTensorCoresCountsWhereAnInstructionHasAWriteBarrier) {
    const Change slow = [](auto& machine) {
        auto& tensor = machine.pipelines.at("tensor");
        tensor.latency.set(*tensor.latency + 500);
        if (tensor.forward_latency) tensor.forward_latency.set(*tensor.forward_latency + 500);
    };
    const auto half = Captured(kHalf).ratios(slow), of_doubles = Captured(kDouble).ratios(slow);
    EXPECT_EQ(half.simulated, 1);
    EXPECT_EQ(half.predicted, 1);
    EXPECT_GT(of_doubles.simulated, 1.2);
    EXPECT_GT(of_doubles.predicted, 1.2);
}

/// indirect_calls: threads of a warp call four functions through pointers.
const std::string kCalls = "hostile/d7b15033918a";

TEST(ChangedCosts, BranchesThroughARegister) {
    for (const char* const key : {"call:register", "ret:register"}) {
        const auto slower =
            Captured(kCalls).ratios([key](auto& machine) { machine.operations.at(key).latency.set(147); });
        EXPECT_GT(slower.simulated, 1.3) << key;
        EXPECT_GT(slower.predicted, 1.3) << key;
    }
}

/// votes_and_matches, of which each warp has up to six values.
const std::string kMatches = "hostile/44c9cc9045fb";

TEST(ChangedCosts, FurtherValuesOfAMatch) {
    const auto slower = Captured(kMatches).ratios(
        [](auto& machine) { machine.operations.at("match.any.sync.b32:value").latency.set(50); });
    EXPECT_GT(slower.simulated, 1.3);
    EXPECT_GT(slower.predicted, 1.3);
}

TEST(ChangedCosts, ReductionsOfAWarp) {
    const auto slower =
        Captured(kMatches).ratios([](auto& machine) { machine.operations.at("redux.sync.add.u32").latency.set(94); });
    EXPECT_GT(slower.simulated, 1.15);
    EXPECT_GT(slower.predicted, 1.15);
}

}  // namespace
}  // namespace gputomo::answer::changed_costs
