// When matrix products of a warp group begin and end on the simulated SM.
#include "sass/cubin.hpp"
#include "sass/form.hpp"
#include "sim/machine_code/deferred_barriers.hpp"
#include "sim/machine_code/program.hpp"
#include "sim/machine_code/unknown_values.hpp"
#include "timed_code.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace gputomo::sim {
namespace warpgroup_products_test {
namespace {

using namespace timed_code;

constexpr Word kArrive{0x00000000000079c5, 0x000fcc0000000000};   // WARPGROUP.ARRIVE
constexpr Word kAdds{0x00e00000081879f0, 0x000fe80008700818};     // HGMMA.64x64x16.F32 R24, gdesc[UR8], R24
constexpr Word kCommits{0x00e00000081879f0, 0x000fe60008000818};  // HGMMA.64x64x16.F32 R24, gdesc[UR8], R24, gsb0
/// HGMMA.64x64x16.F32 R24, R76, gdesc[UR4].tnspB, R24: four rows of A are in R76 to R79.
constexpr Word kRowsInRegisters{0x40e000044c187df0, 0x000fe40008700818};
/// HGMMA.SP.64x64x32.F32 R24, gdesc[UR8], R24, R56, 0x0, gsb0: R56 names the elements of A.
constexpr Word kSparse{0x08e03800081879f0, 0x000fe60008000a18};
/// HGMMA.SP.64x64x32.F32 R24, R56, gdesc[UR4], R24, R60, 0x1, gsb0
constexpr Word kSparseInRegisters{0x08e13c0438187df0, 0x000fe60008000a18};
constexpr Word kWait{0x00008000000079c5, 0x000fe40000010000};     // WARPGROUP.DEPBAR.LE gsb0, 0x0
constexpr Word kWaitOne{0x00008000000079c5, 0x000fe40000010100};  // WARPGROUP.DEPBAR.LE gsb0, 0x1
constexpr Word kPermute{0x0000761004037816, 0x000fe40000000003};  // PRMT R3, R4, 0x7610, R3
constexpr Word kTest{0x000000ff03ff7812, 0x000fe2000780c0ff};     // LOP3.LUT P0, RZ, R3, 0xff, RZ, 0xc0, !PT
constexpr int kShared = 32768;
constexpr std::uint32_t kGroup = 128;

constexpr std::int64_t kLatency = 77;
constexpr double kInterval = 32;

machine::Machine with_products() {
    auto machine = h200();
    std::erase_if(machine.operations, [](const auto& row) { return row.first.starts_with("wgmma."); });
    auto& row = machine.operations["wgmma.m64n64k16.f32.f16.f16"];
    row.latency.set(kLatency), row.throughput.set(kGroup / kInterval);
    return machine;
}

std::uint32_t cycles_of(const std::vector<Word>& body, const machine::Machine& machine = with_products()) {
    const auto results = Kernel(body, kShared).run(machine, kGroup).results;
    return std::ranges::max(results);
}

/// The instruction with another value of a modifier.
Word with_modifier(const Word& word, sass::Modifier modifier, std::uint8_t value) {
    return changed(word, [&](sass::Instruction& instruction) {
        for (std::size_t i = 0; i < instruction.form->modifiers.size(); ++i)
            if (instruction.form->modifiers[i].modifier == modifier) instruction.modifier_values[i] = value;
    });
}

/// The instruction with another number of columns.
Word with_columns(const Word& word, int columns) {
    return with_modifier(word, sass::Modifier::warpgroup_shape, static_cast<std::uint8_t>(columns / 8 - 1));
}

TEST(WarpgroupProducts, EndAfterTheirLatencyWhereAWarpWaits) {
    // The wait ends with the product, and the clock is read at once.
    const std::uint32_t issue = kFirst + 6;
    EXPECT_EQ(cycles_of({kArrive, kCommits, kWait}), issue + kLatency);
    EXPECT_LT(cycles_of({kArrive, kCommits}), issue + 10);
}

TEST(WarpgroupProducts, FollowOneAnotherAtTheIntervalOfTheirShape) {
    const std::uint32_t one = cycles_of({kArrive, kCommits, kWait});
    EXPECT_EQ(cycles_of({kArrive, kAdds, kAdds, kAdds, kCommits, kWait}), one + 3 * kInterval);
}

TEST(WarpgroupProducts, RunWhileTheirWarpGoesOn) {
    std::vector<Word> body{kArrive, kCommits};
    const std::uint32_t alone = cycles_of({kArrive, kCommits, kWait});
    for (int i = 0; i < 10; ++i) body.push_back(with(kMultiply, {16, 0, 16, 3}, {.stall = 4}));
    body.push_back(kWait);
    EXPECT_EQ(cycles_of(body), alone);
    for (int i = 0; i < 20; ++i) body.insert(body.end() - 1, with(kMultiply, {16, 0, 16, 3}, {.stall = 4}));
    EXPECT_GT(cycles_of(body), alone + 20);
}

TEST(WarpgroupProducts, LetArithmeticIssueLessOften) {
    auto described = with_products(), undescribed = described;
    described.issue.beside_products.set(6);
    undescribed.issue.beside_products = {};
    constexpr int kMultiplications = 20;
    const auto cycles = [](const machine::Machine& machine, const Word& product) {
        std::vector<Word> body{kArrive, product, product, product, product, product, product};
        for (int i = 0; i < kMultiplications; ++i)
            body.push_back(
                with(kMultiply, {static_cast<std::uint8_t>(12 + i % 4), 0, 3, 3}, {.stall = 2, .stay = true}));
        return cycles_of(body, machine);
    };
    const auto alone = cycles(undescribed, kCommits);
    EXPECT_NEAR(cycles(described, kCommits), alone + kMultiplications * (6 - 2), 6);
    // Sums of half precision take half as many registers.
    const Word halves = with_modifier(kCommits, sass::Modifier::accumulator, 0);
    EXPECT_NEAR(cycles(described, halves), alone + kMultiplications * (3 - 2), 6);
}

TEST(WarpgroupProducts, AreWaitedForByGroups) {
    const std::vector<Word> all{kArrive, kCommits, kCommits, kWait}, first{kArrive, kCommits, kCommits, kWaitOne};
    EXPECT_EQ(cycles_of(all), cycles_of(first) + kInterval);
}

TEST(WarpgroupProducts, BelowTwoTimedShapesTakeTimesOnTheLineBetweenThem) {
    auto machine = with_products();
    auto& row = machine.operations["wgmma.m64n256k16.f32.f16.f16"];
    row.latency.set(173), row.throughput.set(1);
    const Word wide = with_columns(kCommits, 160);
    EXPECT_EQ(cycles_of({kArrive, wide, kWait}, machine), kFirst + 6 + (77 + 173) / 2);
    EXPECT_EQ(cycles_of({kArrive, wide, wide, kWait}, machine), kFirst + 6 + (77 + 173) / 2 + 80);
}

TEST(WarpgroupProducts, OfOtherTypesSayWhatStandsInForThem) {
    const Word bfloats = with_modifier(kCommits, sass::Modifier::multiplicand, 1);
    const auto outcome = Kernel({kArrive, bfloats, kWait}, kShared).run(with_products(), kGroup);
    EXPECT_EQ(std::ranges::max(outcome.results), kFirst + 6 + kLatency);
    std::string assumed;
    for (const auto& row : outcome.code.assumed) assumed += row.operation + ": " + row.assumption + "\n";
    EXPECT_THAT(assumed, testing::HasSubstr("HGMMA: as wgmma with k16.f32.f16.f16"));
    // Without any product, those of a warp stand in.
    auto machine = with_products();
    machine.operations.erase("wgmma.m64n64k16.f32.f16.f16");
    const auto plain = Kernel({kArrive, kCommits, kWait}, kShared).run(machine, kGroup);
    EXPECT_GT(std::ranges::max(plain.results), kFirst + 6 + 40);
}

TEST(WarpgroupProducts, WithASparseATakeTimesOfTheirOwnOrThoseOfAsManyMultiplications) {
    const auto ends = [](const machine::Machine& machine, std::string& assumed) {
        const auto outcome = Kernel({kArrive, kSparse, kWait}, kShared).run(machine, kGroup);
        for (const auto& row : outcome.code.assumed) assumed += row.operation + ": " + row.assumption + "\n";
        return std::ranges::max(outcome.results) - kFirst - 6;
    };
    auto machine = with_products();
    std::string assumed;
    EXPECT_EQ(ends(machine, assumed), kLatency);
    EXPECT_THAT(assumed, testing::HasSubstr("HGMMA: as wgmma with k16.f32.f16.f16"));
    // Only f16 stands in for other types.
    const auto time = [&](const char* name, std::int64_t latency) {
        machine.operations[name].latency.set(latency), machine.operations[name].throughput.set(2);
    };
    time("wgmma.sp.m64n64k32.f32.bf16.bf16", 95);
    EXPECT_EQ(ends(machine, assumed), kLatency);
    time("wgmma.sp.m64n64k32.f32.f16.f16", 101);
    assumed.clear();
    EXPECT_EQ(ends(machine, assumed), 101U);
    EXPECT_THAT(assumed, testing::Not(testing::HasSubstr("HGMMA")));
    // Those of a dense product stay as they were.
    EXPECT_EQ(cycles_of({kArrive, kCommits, kWait}, machine), kFirst + 6 + kLatency);
}

TEST(WarpgroupProducts, LeftOutAreFollowedThroughHalvesOfRegisters) {
    const auto run = [](const Word& permute) {
        const Word load = changed(kLoad, [](sass::Instruction& instruction) { instruction.guard.predicate = 0; });
        // R24 is a sum of products; its lower half becomes that of R9 or of another sum.
        const auto cubin = Kernel({kArrive, kCommits, kWait, permute, with(kTest, {255, 24, 255}, kLongest),
                                   with(load, {20, 2}, {.stall = 2, .write_barrier = 0})},
                                  kShared)
                               .cubin();
        const auto gpu = make_device(with_products(), {});
        gpu->compute_products(false);
        const auto module = gpu->load({reinterpret_cast<const char*>(cubin.data()), cubin.size()});
        const device::Buffer out(*gpu, Bytes(4 * kGroup)), in(*gpu, Bytes(kInputBytes));
        device::Launch launch{.grid = {1}, .block = {kGroup}, .time_limit = std::chrono::seconds(20)};
        launch.arguments.add(out.address()).add(in.address());
        module->kernel("timed").launch(launch);
    };
    EXPECT_NO_THROW(run(with(kPermute, {24, 9, 24}, kLongest)));
    EXPECT_THROW(run(with(kPermute, {24, 25, 9}, kLongest)), machine_code::NeedsProducts);
}

TEST(WarpgroupProducts, DoNotPassBarriersOfTheBlock) {
    // Other warps may not have written yet what a product reads from shared memory.
    const Word barrier = with(kBlockBarrier, {}, {.stall = 1}), add = with(kAdd, {18, 255, 7, 255}, {.stall = 4});
    const auto bytes = Kernel({barrier, add, kArrive, kAdds, kRowsInRegisters, kCommits, kWait}, kShared).cubin();
    const auto program =
        machine_code::prepare(sass::Cubin(bytes), "timed", [](std::string_view) { return std::uint64_t{0}; });
    const auto found = std::ranges::find_if(program.steps, machine_code::defers_waiting);
    ASSERT_NE(found, program.steps.end());
    const auto step = [&](std::ptrdiff_t behind) { return machine_code::passes_barriers(*(found + behind)); };
    EXPECT_TRUE(step(1)) << "IADD3";
    for (std::ptrdiff_t behind = 2; behind <= 6; ++behind) EXPECT_FALSE(step(behind)) << behind;
}

TEST(WarpgroupProducts, NameTheRegistersOfTheirOperandsAndNoMore) {
    const auto registers = [](const Word& product) {
        const auto bytes = Kernel({kArrive, product, kWait}, kShared).cubin();
        return machine_code::prepare(sass::Cubin(bytes), "timed", [](std::string_view) { return std::uint64_t{0}; })
            .registers;
    };
    // More than an instruction names would let fewer blocks be on an SM.
    EXPECT_EQ(registers(kRowsInRegisters), 76 + 4);
    EXPECT_EQ(registers(kCommits), 24 + 32) << "accumulators of 64 columns";
    EXPECT_EQ(registers(with_columns(kCommits, 256)), 24 + 128);
    EXPECT_EQ(registers(kSparse), 56 + 1) << "metadata of a sparse A";
    EXPECT_EQ(registers(kSparseInRegisters), 60 + 1);
}

}  // namespace
}  // namespace warpgroup_products_test
}  // namespace gputomo::sim
