// Answers with caches that are cold, warm, or hold what another launch left.
#include "answer/answer_text.hpp"
#include "answer/measure.hpp"
#include "answer/predict.hpp"
#include "answer/simulate.hpp"
#include "machine/json.hpp"
#include "predict/launch/l2_content.hpp"
#include "sass/cubin.hpp"
#include "sass/kernel_info.hpp"
#include "sim/completion.hpp"
#include "sim/simulator.hpp"
#include "units/file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cstring>
#include <string>

namespace gputomo::answer {
namespace {

using testing::HasSubstr;
using testing::Not;
using State = Caches::State;

constexpr device::Address kFirst = 0x7f0000000000, kSecond = 0x7f1000000000, kThird = 0x7f2000000000;

const machine::Machine& shipped_h200() {
    static const auto machine = sim::completed(machine::load(GPUTOMO_SOURCE_DIR "/machines/h200.json")).machine;
    return machine;
}

/// c = a + b over `blocks` blocks of 256 threads, at these addresses in the kernel's order.
launch::Launch addition(std::uint32_t blocks, std::initializer_list<device::Address> addresses) {
    launch::Launch launch;
    launch.code = read_file(GPUTOMO_SOURCE_DIR "/tests/machine_code/fixtures/vector_add.cubin", "a cubin");
    launch.kernel = "vector_add";
    launch.grid = {blocks};
    launch.block = {256};
    const std::uint32_t count = blocks * 256;
    const sass::Cubin cubin(std::as_bytes(std::span(launch.code)));
    auto address = addresses.begin();
    for (const auto& parameter : sass::kernel_info(cubin, launch.kernel).parameters) {
        launch::Argument argument{
            .offset = parameter.offset, .bytes = std::vector<std::byte>(parameter.bytes), .buffer = {}};
        if (parameter.bytes == sizeof(device::Address)) {
            argument.buffer = launch.buffers.size();
            launch::Buffer buffer;
            buffer.name = "an array";
            buffer.bytes = std::uint64_t{4} * count;
            buffer.address = *address++;
            launch.buffers.push_back(buffer);
        } else {
            std::memcpy(argument.bytes.data(), &count, sizeof count);
        }
        launch.arguments.push_back(std::move(argument));
    }
    return launch;
}

launch::Launch usual(std::uint32_t blocks = 1024) { return addition(blocks, {kFirst, kSecond, kThird}); }

Answer simulated(const launch::Launch& launch, const CachesAtStart& caches = {}) {
    return simulate(launch, {shipped_h200(), "sim:h200"}, {.caches = caches});
}
Answer predicted(const launch::Launch& launch, const CachesAtStart& caches = {}) {
    return predict(launch, {shipped_h200(), "h200"}, {}, caches);
}
CachesAtStart warm() { return {.caches = {.state = State::warm}}; }
CachesAtStart after(const launch::Launch& earlier) {
    return {.caches = {.state = State::after, .launch = 4}, .earlier = &earlier};
}

/// Cycles without those before the first block and after the last one.
double of_blocks(const Answer& answer) { return answer.time.cycles - *answer.time.launch_cycles; }

TEST(CachesAtStart, WarmOnesSpareASimulatedLaunchItsReadsOfMemory) {
    const auto cold = simulated(usual()), again = simulated(usual(), warm());
    EXPECT_GE(cold.work.dram_bytes, 2 * 4 * 1024 * 256);
    EXPECT_LT(again.work.dram_bytes, 0.05 * cold.work.dram_bytes);
    EXPECT_LT(of_blocks(again), 0.9 * of_blocks(cold));
    EXPECT_EQ(again.work.warp_instructions, cold.work.warp_instructions) << "memory is as it was before the launch";
}

TEST(CachesAtStart, CachesOfSmsBeginEmpty) {
    EXPECT_EQ(simulated(usual(64), warm()).work.caches.at("l1").hits, simulated(usual(64)).work.caches.at("l1").hits);
}

TEST(CachesAtStart, AnEarlierLaunchLeavesWhatItTouched) {
    const auto same = usual(), other = addition(1024, {kFirst + (1 << 28), kSecond + (1 << 28), kThird + (1 << 28)});
    const double cold = simulated(usual()).work.dram_bytes;
    EXPECT_LT(simulated(usual(), after(same)).work.dram_bytes, 0.05 * cold);
    EXPECT_GT(simulated(usual(), after(other)).work.dram_bytes, 0.95 * cold);
    // It read one of the two arrays.
    const auto half = addition(1024, {kFirst, kSecond + (1 << 28), kThird + (1 << 28)});
    EXPECT_NEAR(simulated(usual(), after(half)).work.dram_bytes, cold / 2, 0.05 * cold);
}

TEST(CachesAtStart, PredictionsKnowThemToo) {
    const auto cold = predicted(usual()), again = predicted(usual(), warm());
    EXPECT_GT(*cold.work.dram_read_bytes, 2 * 4 * 1024 * 256 * 0.9);
    EXPECT_EQ(*again.work.dram_read_bytes, 0);
    EXPECT_LT(of_blocks(again), 0.9 * of_blocks(cold));
    const auto same = usual(), other = addition(1024, {kFirst + (1 << 28), kSecond + (1 << 28), kThird + (1 << 28)});
    EXPECT_EQ(*predicted(usual(), after(same)).work.dram_read_bytes, 0);
    EXPECT_EQ(predicted(usual(), after(other)).time.cycles, cold.time.cycles);
}

TEST(CachesAtStart, TheAnswerSaysWhichAndGivesTheWarmTimeWhereItDiffers) {
    const auto cold = predicted(usual(), {.also_warm = true});
    ASSERT_TRUE(cold.time.warm_cycles);
    EXPECT_EQ(*cold.time.warm_cycles, predicted(usual(), warm()).time.cycles);
    EXPECT_THAT(answer_text(cold), HasSubstr("caches        cold; with warm ones "));
    EXPECT_EQ(answer_json(cold)["warm_cycles"], *cold.time.warm_cycles);
    const auto earlier = usual();
    EXPECT_EQ(answer_json(predicted(usual(), after(earlier)))["caches"], "after:4");
    EXPECT_THAT(answer_text(predicted(usual(), warm())), HasSubstr("caches        warm\n"));
    EXPECT_THAT(answer_text(predicted(usual())), Not(HasSubstr("with warm ones"))) << "it was not asked for";
}

TEST(MeasureOnASimulatedGpu, FindsTheCyclesThatItsSimulationSays) {
    const auto device = sim::make_device(shipped_h200(), {.id = "sim:h200"});
    Measurer measurer(*device, {.repetitions = 1, .cold = false});
    const auto launch = usual(512);
    const auto measured = measurer.measure(launch);
    const auto answer = simulated(launch, warm());
    ASSERT_TRUE(measured.warm);
    EXPECT_NEAR(measured.warm->cycles, of_blocks(answer), 0.03 * answer.time.cycles);
    EXPECT_NEAR(measured.warm->sm_mhz, *shipped_h200().clock.sm_mhz, 5);
    EXPECT_FALSE(measured.cold);
    EXPECT_FALSE(measured.restored) << "sums of the same arrays are the same";
}

launch::LaunchProfile touching(double bytes) {
    launch::LaunchProfile profile;
    profile.footprint.read = bytes;
    return profile;
}

TEST(L2Content, OfALaunchThatTouchesMoreThanFitsIsWhatMissesDidNotReplace) {
    auto machine = shipped_h200();
    machine.caches.at("l2").policy.set("random");
    const auto capacity = static_cast<double>(*machine.caches.at("l2").capacity);
    const auto share = [&](double times) {
        return predict::content_after_itself(touching(times * capacity), machine).own_share();
    };
    EXPECT_EQ(share(0.5), 1);
    EXPECT_EQ(share(1), 1);
    EXPECT_NEAR(share(2), 0.2032, 1e-3) << "h = exp(-2 (1 - h))";
    EXPECT_LT(share(10), 1e-4);
    machine.caches.at("l2").policy.set("lru");
    EXPECT_EQ(share(1.01), 0) << "each line is replaced before it is used again";
}

TEST(L2Content, HoldsTheShareOfItsPartAndNothingElsewhere) {
    const predict::L2Content content({{{1 << 20, 1 << 20}, 0.25}});
    int held = 0;
    for (std::uint64_t granule = (1 << 20) / 64; granule < (2 << 20) / 64; ++granule)
        held += content.holds(granule, 64);
    EXPECT_NEAR(held, 0.25 * (1 << 20) / 64, 200);
    EXPECT_FALSE(content.holds(0, 64));
    EXPECT_FALSE(content.holds((2 << 20) / 64, 64));
}

}  // namespace
}  // namespace gputomo::answer
