// Mixes on simulated GPUs: limits that the description sets, pointers that come back, occupancies.
#include "experiments/mix/mix_throughput.hpp"
#include "experiments/mix/fitting_turn.hpp"

#include "machine/json.hpp"
#include "sim/simulator.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace gputomo::experiments {
namespace {

using ::testing::ElementsAre;

std::unique_ptr<sim::SimulatedDevice> simulated(const std::string& name) {
    auto machine = machine::load(std::string(GPUTOMO_SOURCE_DIR) + "/machines/" + name + ".json");
    // A quarter of a GPU takes a quarter of the time, and is the same for each SM.
    machine.topology.sms.set(*machine.topology.sms / 4);
    machine.memory.read_bandwidth.set(*machine.memory.read_bandwidth / 4);
    machine.memory.peak_bandwidth.set(*machine.memory.peak_bandwidth / 4);
    if (machine.memory.copy_bandwidth) machine.memory.copy_bandwidth.set(*machine.memory.copy_bandwidth / 4);
    return sim::make_device(machine, {.id = "sim:" + name, .seed = 1});
}

double ipc(device::Device& gpu, const MixShape& shape, int warps) {
    LinkedArray array(gpu, warps, MixThroughput::kMostLines);
    return MixThroughput(gpu, shape, array).instructions_per_cycle(warps).value();
}

TEST(MixThroughput, OneWarpTakesTheLatenciesOfItsInstructions) {
    const auto kepler = simulated("gtx680");
    EXPECT_NEAR(9 / ipc(*kepler, {.alpha = 8}, 1), 301 + 8 * 9, 2);
    EXPECT_NEAR(1 / ipc(*kepler, {.arithmetic_only = true}, 1), 9, 0.1);
    EXPECT_NEAR(5 / ipc(*kepler, {.access = MixAccess::sfu, .alpha = 4}, 1), 9 + 4 * 9, 0.5);
    EXPECT_NEAR(5 / ipc(*kepler, {.access = MixAccess::shared, .alpha = 4}, 1), 24 + 4 * 9, 0.5);
}

TEST(MixThroughput, ManyWarpsReachWhatLimitsThem) {
    const auto fermi = simulated("gtx480");
    EXPECT_NEAR(ipc(*fermi, {.arithmetic_only = true}, 40), 1, 0.02);
    // As many SMs as a quarter has, rounded down. Two chains: 95% of the peak are not reached with one (Volkov 2016, 6.3).
    EXPECT_NEAR(ipc(*fermi, {.alpha = 1, .chains = 2}, 32) / 2, 0.0599 * (15 / 4.0) / (15 / 4), 0.004);
}

TEST(MixThroughput, OccupancyThatWasNotAttainedGivesNoSample) {
    auto machine = machine::load(std::string(GPUTOMO_SOURCE_DIR) + "/machines/8800gtx.json");
    machine.topology.registers_per_sm.set(4096);  // room for one block of 12 warps, not for two
    const auto gpu = sim::make_device(machine, {.id = "sim", .seed = 1});
    LinkedArray array(*gpu, 24, MixThroughput::kMostLines);
    MixThroughput mix(*gpu, {.alpha = 32}, array);
    EXPECT_FALSE(mix.instructions_per_cycle(24).has_value());
    EXPECT_TRUE(mix.instructions_per_cycle(4).has_value());
}

TEST(MixThroughput, WarpsThatFillAGpuHaveRegistersForStreams) {
    // 8,192 registers of 768 threads: ten for each (Volkov 2016, Table 6.4, has 24 warps).
    const auto g80 = simulated("8800gtx");
    LinkedArray array(*g80, 24, MixThroughput::kMostLines);
    EXPECT_TRUE(MixThroughput(*g80, {.alpha = 0}, array).instructions_per_cycle(24).has_value());
}

TEST(MixThroughput, ManyChainsOfManyWarpsReadNoFasterThanTheMemoryGives) {
    // Four SMs with a quarter of the memory: each line that they read takes its time there, however few lines a chain has.
    const auto maxwell = simulated("gtx980");
    const double most = 211 / 16.0 / 128 / 1.266;  // loads per cycle and SM (Volkov 2016, Tables 2.7 and 6.4)
    const double found = ipc(*maxwell, {.alpha = 0, .chains = 8}, 64);
    EXPECT_LT(found, 1.005 * most);
    EXPECT_GT(found, 0.96 * most);
}

TEST(FittingTurn, IsShorterThanTheCodeThatAnInstructionCacheKeeps) {
    auto machine = machine::load(std::string(GPUTOMO_SOURCE_DIR) + "/machines/gtx280.json");
    machine.topology.sms.set(3);
    for (auto& [name, path] : machine.paths) path.memory_latency_range = {};  // of ten places
    for (auto& [name, cache] : machine.caches) cache.latency_range = {};
    EXPECT_EQ(fitting_turn(*sim::make_device(machine, {.id = "sim", .seed = 1})), 405);  // 512 instructions of 8 bytes fit
    auto& cache = machine.caches.at("instruction_l1");
    cache.capacity.set(2048);
    cache.ways.set(2);
    const int half = fitting_turn(*sim::make_device(machine, {.id = "sim", .seed = 1}));
    EXPECT_GT(half, 128);
    EXPECT_LT(half, 256);
    cache.capacity.set(8192);
    cache.ways.set(8);
    EXPECT_EQ(fitting_turn(*sim::make_device(machine, {.id = "sim", .seed = 1})), kTurn);
}

TEST(MixThroughput, ChainsCountAsWarps) {
    const auto maxwell = simulated("gtx980");
    EXPECT_NEAR(ipc(*maxwell, {.alpha = 4, .chains = 2}, 4) / ipc(*maxwell, {.alpha = 4}, 8), 1, 0.03);
}

TEST(MixThroughput, TurnsOfTheLoopHave500To1000Instructions) {
    for (const int alpha : {0, 1, 2, 11, 63, 181, 512}) {
        const MixShape shape{.access = MixAccess::shared, .alpha = alpha};
        EXPECT_GE(shape.instructions(), 500) << alpha;
        EXPECT_LE(shape.instructions(), 1000) << alpha;
    }
    EXPECT_EQ((MixShape{.alpha = 1}.lines()), 16);  // slow loads
}

TEST(MixThroughput, OccupanciesAndIntensities) {
    EXPECT_THAT(mix_occupancies(4, 64), ElementsAre(4, 8, 12, 16, 20, 24, 28, 32, 40, 48, 56, 64));
    EXPECT_THAT(mix_occupancies(1, 24), ElementsAre(1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 24));
    EXPECT_THAT(mix_alphas(true), ElementsAre(1, 4, 16, 64, 256));
    EXPECT_EQ(mix_alphas(false).size(), 18U);  // sqrt(2) rounds to 1
    EXPECT_EQ(mix_alphas(false).back(), 512);
}

TEST(LinkedArray, GivesLinesThatWereNotReadForLong) {
    const auto gpu = simulated("gtx980");
    LinkedArray array(*gpu, 4, 100);  // 4 SMs: 16 chains side by side
    EXPECT_EQ(array.take(16, 60), 0);
    EXPECT_EQ(array.take(10, 40), 16 * 60);
    EXPECT_EQ(array.take(1, 1), 0);
    EXPECT_THROW((void)array.take(16, 101), std::logic_error);
}

}  // namespace
}  // namespace gputomo::experiments
