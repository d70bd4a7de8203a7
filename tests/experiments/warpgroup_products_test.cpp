// Latency and rate of products of a warp group: the experiment finds what the simulated GPU's description says.
#include "experiments/experiment.hpp"
#include "machine/json.hpp"
#include "measure/warpgroup/product_timing.hpp"
#include "quiet_context.hpp"
#include "sass/code.hpp"
#include "sass/cubin.hpp"
#include "sim/completion.hpp"
#include "sim/simulator.hpp"
#include "units/error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace gputomo::experiments::of_warpgroups {
namespace {

machine::Machine h200() { return sim::completed(machine::load(GPUTOMO_SOURCE_DIR "/machines/h200.json")).machine; }

Outcome outcome_of(const machine::Machine& machine, const sim::Noise& noise = {}) {
    const auto device = sim::make_device(machine, {.id = "sim:test", .seed = 5, .noise = noise});
    const Findings none;
    Context context = quiet_context(*device, none);
    const auto rows = catalogue();
    return std::ranges::find(rows, "warpgroup_products", &Experiment::id)->run(context);
}

double number(const Outcome& outcome, const std::string& path) {
    const auto found = std::ranges::find(outcome.estimates, path, &results::Estimate::path);
    if (found == outcome.estimates.end()) return -1;
    return path.ends_with("latency") ? static_cast<double>(std::get<std::int64_t>(found->value))
                                     : std::get<double>(found->value);
}

TEST(WarpgroupProducts, OfAnH200ComeOutAsTheyAreDescribed) {
    const auto machine = h200();
    const Outcome outcome = outcome_of(machine);
    std::size_t compared = 0;
    for (const auto& [key, row] : machine.operations) {
        if (!key.starts_with("wgmma.")) continue;
        ++compared;
        EXPECT_EQ(number(outcome, "operations[" + key + "].latency"), *row.latency) << key;
        EXPECT_NEAR(number(outcome, "operations[" + key + "].throughput"), *row.throughput, 1e-6) << key;
    }
    EXPECT_EQ(compared, 70U + 60) << "dense and sparse ones";
    EXPECT_EQ(outcome.estimates.size(), 2 * compared + 1);
    EXPECT_NEAR(number(outcome, "issue.beside_products"), *machine.issue.beside_products, 0.1);
}

TEST(WarpgroupProducts, OfAnotherGpuAreFoundInNoiseAsWell) {
    auto machine = h200();
    auto& row = machine.operations.at("wgmma.m64n64k32.f32.e4m3.e4m3.registers");
    row.latency.set(131), row.throughput.set(128.0 / 47);
    auto& sparse = machine.operations.at("wgmma.sp.m64n64k16.f32.tf32.tf32");
    sparse.latency.set(141), sparse.throughput.set(128.0 / 59);
    const Outcome outcome = outcome_of(machine, {.jitter_cycles = 2, .outlier_fraction = 0.02});
    EXPECT_NEAR(number(outcome, "operations[wgmma.sp.m64n64k16.f32.tf32.tf32].latency"), 141, 4);
    EXPECT_NEAR(128 / number(outcome, "operations[wgmma.sp.m64n64k16.f32.tf32.tf32].throughput"), 59, 1.5);
    EXPECT_NEAR(number(outcome, "operations[wgmma.m64n64k32.f32.e4m3.e4m3.registers].latency"), 131, 4);
    EXPECT_NEAR(128 / number(outcome, "operations[wgmma.m64n64k32.f32.e4m3.e4m3.registers].throughput"), 47, 1.5);
}

TEST(WarpgroupProducts, DelayArithmeticAsLongAsIsDescribed) {
    auto machine = h200();
    machine.issue.beside_products.set(7);
    EXPECT_NEAR(number(outcome_of(machine, {.jitter_cycles = 2}), "issue.beside_products"), 7, 0.2);
    machine.issue.beside_products = {};
    EXPECT_EQ(number(outcome_of(machine), "issue.beside_products"), -1);
}

TEST(WarpgroupProducts, AreNotTimedOnGpusThatCannotExecuteThem) {
    const auto machine = sim::completed(machine::load(GPUTOMO_SOURCE_DIR "/machines/gtx980.json")).machine;
    EXPECT_THAT(outcome_of(machine).estimates, ::testing::IsEmpty());
    auto few_registers = h200();
    few_registers.topology.registers_per_sm.set(16384);
    EXPECT_THAT(outcome_of(few_registers).estimates, ::testing::IsEmpty());
}

TEST(ProductCode, HasTheProductsThatWereAskedFor) {
    const measure::ProductShape shape{"s32.s8.s8", 96, true};
    EXPECT_EQ(measure::operation_of(shape), "wgmma.m64n96k32.s32.s8.s8.registers");
    EXPECT_EQ(measure::mnemonic_of(shape), "IGMMA.64x96x32.S8.S8");
    const auto bytes = measure::product_cubin(shape, 5);
    const auto code = sass::Cubin(bytes).text(measure::kProductKernel).bytes;
    int products = 0, groups = 0;
    for (const auto& instruction : sass::decode(code, 90)) {
        const auto text = sass::text_of(instruction, 0);
        products += text.starts_with("IGMMA.64x96x32.S8.S8 R24, R152, gdesc[UR8], R24") ? 1 : 0;
        groups += text.ends_with("gsb0") ? 1 : 0;
    }
    EXPECT_EQ(products, 5);
    EXPECT_EQ(groups, 1);
    EXPECT_EQ(measure::operation_of({"f32.bf16.bf16", 16, false, true}), "wgmma.sp.m64n16k32.f32.bf16.bf16");
    const auto sparse = measure::product_cubin({"f32.bf16.bf16", 16, true, true}, 1);
    bool has_product = false, has_metadata = false;
    for (const auto& instruction : sass::decode(sass::Cubin(sparse).text(measure::kProductKernel).bytes, 90)) {
        const auto text = sass::text_of(instruction, 0);
        has_metadata |= text == "VIADD R156, RZ, 0x44444444";
        has_product |= text == "HGMMA.SP.64x16x32.F32.BF16 R24, R152, gdesc[UR8], R24, R156, 0x0, gsb0";
    }
    EXPECT_TRUE(has_product && has_metadata);
    EXPECT_THAT(
        [] {
            static_cast<void>(measure::product_cubin({"s32.b1.b1", 64, false, true}, 1));
        },
        ::testing::ThrowsMessage<InputError>(::testing::HasSubstr("BGMMA.SP")));
    EXPECT_THAT(
        [] {
            static_cast<void>(measure::product_cubin({"f32.e5m2.f16", 64, false}, 1));
        },
        ::testing::ThrowsMessage<InputError>(::testing::HasSubstr("f32.e5m2.f16")));
    EXPECT_THAT(
        [] {
            static_cast<void>(measure::product_cubin({"s32.s8.s8", 40, false}, 1));
        },
        ::testing::ThrowsMessage<InputError>(::testing::HasSubstr("64x40x32")));
    EXPECT_THAT(
        [] {
            static_cast<void>(measure::product_cubin({"s32.s8.s8", 64, false}, 500));
        },
        ::testing::ThrowsMessage<InputError>(::testing::HasSubstr("do not fit")));
}

}  // namespace
}  // namespace gputomo::experiments::of_warpgroups
