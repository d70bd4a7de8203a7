// Mixes on simulated GPUs: the limits that the description sets, the ends of their pointers, their occupancies.
#include "measure/mix/mix_throughput.hpp"
#include "measure/mix/fitting_loop_length.hpp"
#include "measure/mix/mix_surface.hpp"
#include "measure/mix/mix_sweeps.hpp"
#include "measure/mix/model_plan.hpp"

#include "machine/json.hpp"
#include "ptx/parser.hpp"
#include "scripted_device.hpp"
#include "sim/simulator.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

namespace gputomo::measure {
namespace {

using ::testing::ElementsAre;

std::unique_ptr<sim::SimulatedDevice> simulated(const std::string& name) {
    auto machine = machine::load(std::string(GPUTOMO_SOURCE_DIR) + "/machines/" + name + ".json");
    // A quarter of a GPU takes a quarter of the time and is the same for each SM.
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

TEST(MixThroughput, StreamsOfWarpsHaveTheDescribedLatency) {
    auto machine = machine::load(std::string(GPUTOMO_SOURCE_DIR) + "/machines/gtx280.json");
    machine.topology.sms.set(6);
    for (const std::int64_t latency : {434, 460}) {
        machine.paths.at("global").warp_latency.set(latency);
        const auto gpu = sim::make_device(machine, {.id = "sim", .seed = 1});
        EXPECT_NEAR(1 / ipc(*gpu, {.alpha = 0}, 1), static_cast<double>(latency), 3) << "and what pages add";
    }
}

TEST(MixThroughput, StreamsAreCountedForTheLeastWindowOrWhileLinesLast) {
    const auto gpu = simulated("gtx680");
    LinkedArray array(*gpu, 4, MixThroughput::kMostLines);
    constexpr double kWindow = 90'000;
    const auto cycles_of = [&](MixThroughput& mix) {
        EXPECT_TRUE(mix.instructions_per_cycle(2).has_value());
        return gpu->counters().cycles;  // of the last launch
    };
    MixThroughput one(*gpu, {.alpha = 0}, array), eight(*gpu, {.alpha = 0, .chains = 8}, array),
        adds(*gpu, {.arithmetic_only = true}, array);
    const double alone = one.instructions_per_cycle(2).value(), together = eight.instructions_per_cycle(2).value();
    EXPECT_LT(cycles_of(one), kWindow);
    for (MixThroughput* mix : {&one, &eight, &adds}) mix->set_least_window(kWindow);
    EXPECT_GT(cycles_of(one), kWindow);
    EXPECT_LT(cycles_of(eight), kWindow) << "eight chains share the lines, so that it takes several launches";
    EXPECT_LT(cycles_of(adds), kWindow) << "not a stream";
    EXPECT_NEAR(one.instructions_per_cycle(2).value() / alone, 1, 0.02);
    EXPECT_NEAR(eight.instructions_per_cycle(2).value() / together, 1, 0.02);
}

TEST(MixThroughput, ManyWarpsReachTheDescribedLimit) {
    const auto fermi = simulated("gtx480");
    EXPECT_NEAR(ipc(*fermi, {.arithmetic_only = true}, 40), 1, 0.02);
    // The quarter of 15 SMs is rounded down to 3. One chain does not reach 95% of the peak, two do (Volkov 2016, 6.3).
    EXPECT_NEAR(ipc(*fermi, {.alpha = 1, .chains = 2}, 32) / 2, 0.0599 * (15 / 4.0) / 3, 0.004);
}

TEST(MixThroughput, OccupancyThatWasNotAttainedGivesNoSample) {
    auto machine = machine::load(std::string(GPUTOMO_SOURCE_DIR) + "/machines/8800gtx.json");
    machine.topology.registers_per_sm.set(4096);  // for one block of 12 warps, not for two
    const auto gpu = sim::make_device(machine, {.id = "sim", .seed = 1});
    LinkedArray array(*gpu, 24, MixThroughput::kMostLines);
    MixThroughput mix(*gpu, {.alpha = 32}, array);
    EXPECT_FALSE(mix.instructions_per_cycle(24).has_value());
    EXPECT_TRUE(mix.instructions_per_cycle(4).has_value());
}

TEST(MixThroughput, StreamsFitTheRegistersAtFullOccupancy) {
    // 8,192 registers of 768 threads are ten for each (Volkov 2016, Table 6.4, has 24 warps).
    const auto g80 = simulated("8800gtx");
    LinkedArray array(*g80, 24, MixThroughput::kMostLines);
    EXPECT_TRUE(MixThroughput(*g80, {.alpha = 0}, array).instructions_per_cycle(24).has_value());
}

TEST(MixThroughput, ManyChainsOfManyWarpsDoNotExceedTheMemoryBandwidth) {
    // Four SMs with a quarter of the memory: each line that they read takes its time there, however few lines a chain
    // has.
    const auto maxwell = simulated("gtx980");
    const double most = 211 / 16.0 / 128 / 1.266;  // loads per cycle and SM (Volkov 2016, Tables 2.7 and 6.4)
    const double found = ipc(*maxwell, {.alpha = 0, .chains = 8}, 64);
    EXPECT_LT(found, 1.005 * most);
    EXPECT_GT(found, 0.96 * most);
}

TEST(FittingLoopLength, FitsTheInstructionCache) {
    auto machine = machine::load(std::string(GPUTOMO_SOURCE_DIR) + "/machines/gtx280.json");
    machine.topology.sms.set(3);
    for (auto& [name, path] : machine.paths) path.memory_latency_range = {};  // of ten placements
    for (auto& [name, cache] : machine.caches) cache.latency_range = {};
    EXPECT_EQ(fitting_loop_length(*sim::make_device(machine, {.id = "sim", .seed = 1})),
              405);  // 512 instructions of 8 bytes fit
    auto& cache = machine.caches.at("instruction_l1");
    cache.capacity.set(2048);
    cache.ways.set(2);
    const int half = fitting_loop_length(*sim::make_device(machine, {.id = "sim", .seed = 1}));
    EXPECT_GT(half, 128);
    EXPECT_LT(half, 256);
    cache.capacity.set(8192);
    cache.ways.set(8);
    EXPECT_EQ(fitting_loop_length(*sim::make_device(machine, {.id = "sim", .seed = 1})), kLoopLength);
}

TEST(MixThroughput, ChainsHideLatencyLikeWarps) {
    const auto maxwell = simulated("gtx980");
    EXPECT_NEAR(ipc(*maxwell, {.alpha = 4, .chains = 2}, 4) / ipc(*maxwell, {.alpha = 4}, 8), 1, 0.03);
}

TEST(MixThroughput, LoopIterationsHave500To1000Instructions) {
    for (const int alpha : {0, 1, 2, 11, 63, 181, 512}) {
        const MixShape shape{.access = MixAccess::shared, .alpha = alpha};
        EXPECT_GE(shape.instructions(), 500) << alpha;
        EXPECT_LE(shape.instructions(), 1000) << alpha;
    }
    EXPECT_EQ((MixShape{.alpha = 1}.lines()), 16);  // slow loads
}

TEST(MixSweeps, SampleOccupanciesAndIntensities) {
    EXPECT_THAT(mix_occupancies(4, 64), ElementsAre(4, 8, 12, 16, 20, 24, 28, 32, 40, 48, 56, 64));
    EXPECT_THAT(mix_occupancies(1, 24), ElementsAre(1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 24));
    EXPECT_THAT(mix_alphas(true), ElementsAre(1, 4, 16, 64, 256));
    EXPECT_EQ(mix_alphas(false).size(), 18U);  // sqrt(2) rounds to 1
    EXPECT_EQ(mix_alphas(false).back(), 512);
}

TEST(LinkedArray, GroupsOfChainsReadLinesOfTheirOwnAtUnequalDistances) {
    const auto gpu = simulated("gtx980");
    constexpr std::int64_t kLines = 40, kChains = 64 * 16, kGroup = 16;
    LinkedArray array(*gpu, kChains / 4, kLines);
    const auto first = array.take(kChains, kLines);
    std::set<std::uint32_t> lines, offsets;
    for (std::int64_t chain = 0; chain < kChains; ++chain)
        for (std::int64_t step = 0; step < kLines; ++step) lines.insert(array.after(first, chain, kLines, step));
    EXPECT_EQ(std::ssize(lines), kChains * kLines);
    for (std::int64_t group = 0; group < kChains / kGroup; ++group)
        offsets.insert(array.after(first, group * kGroup, kLines, 0) -
                       static_cast<std::uint32_t>(group * kGroup * array.distance(kLines) * LinkedArray::kLineBytes));
    EXPECT_GT(offsets.size(), 16U) << "in its part of the array a group begins anywhere";
    auto ring = LinkedArray::ring(*gpu, 64);
    EXPECT_EQ(ring.distance(37), 37);
    EXPECT_EQ(ring.after(0, 1, 37, 0) - ring.after(0, 0, 37, 0), 37 * LinkedArray::kLineBytes);
}

TEST(MixSweeps, MixesOfModelsGiveEachSchedulerTheSameNumberOfWarps) {
    const auto plan = plan_of({.access = MixAccess::sfu, .intensities = {{1, 4}}, .schedulers = 2, .max_warps = 10});
    EXPECT_THAT(plan.warps, ElementsAre(2, 4, 6, 8, 10));
    EXPECT_THAT(plan.accesses, ElementsAre(MixAccess::sfu));
    EXPECT_THAT(plan.chains, ElementsAre(1));
    EXPECT_FALSE(plan.adds_alone);
    EXPECT_EQ(plan.loop_length, std::nullopt);
}

/// By hand, in lines of 128 bytes. Chains that read 40 lines each have 71 to their group, as the scatter adds up to 31.
/// The scatter of groups 1 to 3 is that of 0x9E37, 0x3C6E and 0xDAA6 modulo 32: the upper halves of their numbers times
/// 0x9E3779B1, modulo 2^32.
TEST(LinkedArray, ChainsAreAtTheLinesThatTheScatterOfTheirGroupsGives) {
    const auto gpu = simulated("gtx980");
    LinkedArray array(*gpu, 64, 40);
    EXPECT_EQ(array.distance(40), 71);
    const auto line = [&](std::int64_t chain, std::int64_t step) {
        return (array.after(0, chain, 40, step) - array.after(0, 0, 40, 0)) / 128;
    };
    EXPECT_EQ(line(5, 0), 5U) << "chains of one group read adjacent lines";
    EXPECT_EQ(line(0, 3), 3 * 16U) << "and a chain every sixteenth line";
    EXPECT_EQ(line(16, 0), (71 + 23) * 16U);
    EXPECT_EQ(line(35, 7), (2 * 71 + 14 + 7) * 16U + 3);
    EXPECT_EQ(line(48, 39), (3 * 71 + 6 + 39) * 16U);
    auto ring = LinkedArray::ring(*gpu, 64);
    EXPECT_EQ((ring.after(0, 2, 37, 63) - ring.after(0, 0, 37, 0)) / 128, 9U) << "137 modulo 64";
}

TEST(MixThroughput, TensorMixesAddToOneAccumulatorOfEachMma) {
    const MixShape shape{.access = MixAccess::tensor, .alpha = 3, .chains = 2};
    ptx::ModuleBuilder builder({7, 0, device::kMmaFromSm});
    builder.add(mix_kernel({7, 0, device::kMmaFromSm}, shape));
    const auto module = ptx::parse(builder.text());
    const auto first_of = [](const ptx::Operand& vector) {
        return std::get<ptx::Register>(std::get<ptx::VectorRef>(vector.value).elements.front().value);
    };
    std::map<std::uint32_t, int> mmas, adds;  // by the register of the accumulator
    for (const auto& instruction : module.kernels.front().body) {
        if (instruction.opcode == ptx::Opcode::mma) {
            const auto sum = first_of(instruction.destinations.front());
            EXPECT_EQ(sum.index, first_of(instruction.sources.back()).index) << "each adds to what the one before left";
            ++mmas[sum.index];
        } else if (instruction.opcode == ptx::Opcode::add && instruction.type == ptx::Type::f32) {
            ++adds[std::get<ptx::Register>(instruction.destinations.front().value).index];
        }
    }
    ASSERT_EQ(mmas.size(), 2U);
    ASSERT_EQ(adds.size(), 2U);
    for (const auto& [sum, times] : mmas) {
        EXPECT_EQ(times, shape.groups());
        EXPECT_EQ(adds[sum], shape.groups() * shape.alpha);
    }
}

TEST(MixThroughput, SurfacesWarnOfMixesThatTheDeviceLacks) {
    const auto gpu = simulated("gtx680");
    const auto surface = measure_surface(*gpu,
                                         {.accesses = {MixAccess::tensor, MixAccess::sfu},
                                          .intensities = {{1, 4}},
                                          .chains = {1},
                                          .warps = {4},
                                          .adds_alone = false},
                                         [](double, std::string_view) {});
    EXPECT_THAT(surface.warnings, ElementsAre(::testing::HasSubstr("mixes with tensor were left out")));
    ASSERT_EQ(surface.curves.size(), 1U);
    EXPECT_EQ(surface.curves.front().shape.access, MixAccess::sfu);
}

/// Allocates memory in pieces of 2 MiB, as drivers do: small allocations share a piece, others come after it.
class PooledDevice : public testing::ScriptedDevice {
public:
    explicit PooledDevice(device::Address begin) : small_(begin), next_(begin + kPiece) {}
    device::Address allocate(Bytes size) override {
        const auto bytes = static_cast<device::Address>(size.count());
        device::Address& at = bytes < kPiece / 2 ? small_ : next_;
        const auto given = at;
        at += bytes < kPiece / 2 ? (bytes + 511) / 512 * 512 : (bytes + kPiece - 1) / kPiece * kPiece;
        return given;
    }
    void copy_to_device(device::Address, std::span<const std::byte>) override {}

private:
    static constexpr device::Address kPiece = device::Address{2} << 20;
    device::Address small_, next_;
};

TEST(LinkedArray, AvoidsMemoryWhoseAddressesAreNan) {
    for (const device::Address begin : {0x7f1234800000, 0x7f12ff800000, 0x7f127f800000, 0x7f127fe00000}) {
        PooledDevice gpu(begin);
        const auto ring = LinkedArray::ring(gpu, 1);
        const auto low = ring.after(0, 0, 1, 0);
        EXPECT_LT(low & 0x7fffffff, 0x7f800000U) << std::hex << begin << " gave " << low;
    }
}

TEST(LinkedArray, ReusesTheLinesThatWereReadLongestAgo) {
    const auto gpu = simulated("gtx980");
    LinkedArray array(*gpu, 4, 100);  // 4 SMs: 16 adjacent chains
    EXPECT_EQ(array.take(16, 60), 0);
    EXPECT_EQ(array.take(10, 40), 16 * array.distance(60));
    EXPECT_EQ(array.take(1, 100), 16 * (array.distance(60) + array.distance(40)));
    EXPECT_EQ(array.take(16, 200), 0);
    EXPECT_THROW((void)array.take(16, 400), std::logic_error);
}

}  // namespace
}  // namespace gputomo::measure
