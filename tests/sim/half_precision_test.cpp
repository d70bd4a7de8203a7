// f16 and bf16 arithmetic: values, rounding, special cases.
#include "launching.hpp"

#include <gtest/gtest.h>

#include <bit>

namespace gputomo::sim::test {
namespace {

/// The 32-bit result of `mnemonic` on registers a, b, c.
std::uint32_t result(const std::string& mnemonic, int operands, std::uint32_t a, std::uint32_t b = 0,
                     std::uint32_t c = 0, bool narrow = false) {
    const auto gpu = make_device(small_machine(), {});
    KernelBuilder k("half", ptx::Target{8, 0, 90});
    const Type type = narrow ? Type::b16 : Type::b32;
    const auto out = k.param(Type::u64, "out");
    std::vector<ptx::Arg> args;
    const auto d = k.reg(type);
    args.emplace_back(d);
    const std::uint32_t values[] = {a, b, c};
    for (int i = 0; i < operands; ++i) {
        const auto r = k.reg(type);
        k(narrow ? "mov.b16" : "mov.b32", r, values[i]);
        args.emplace_back(r);
    }
    k.emit(mnemonic, args);
    k(narrow ? "st.global.b16" : "st.global.b32", Mem{out}, d);
    return run(*gpu, k, 1, {1}, {32})[0] & (narrow ? 0xFFFFU : 0xFFFFFFFFU);
}

constexpr bool kNarrow = true;

TEST(HalfPrecision, ComputesAndRoundsToNearestEven) {
    EXPECT_EQ(result("add.f16", 2, 0x3C00, 0x3C00, 0, kNarrow), 0x4000U);     // 1 + 1
    EXPECT_EQ(result("add.f16", 2, 0x6400, 0x3800, 0, kNarrow), 0x6400U);     // 1024 + 0.5: a tie, to even
    EXPECT_EQ(result("add.f16", 2, 0x6401, 0x3800, 0, kNarrow), 0x6402U);     // 1025 + 0.5: a tie, to even
    EXPECT_EQ(result("sub.f16", 2, 0x3C01, 0x3C00, 0, kNarrow), 0x1400U);     // 2^-10
    EXPECT_EQ(result("mul.f16", 2, 0x3E00, 0x3E00, 0, kNarrow), 0x4080U);     // 1.5 * 1.5
    EXPECT_EQ(result("mul.f16", 2, 0x0001, 0x3800, 0, kNarrow), 0x0000U);     // half the smallest: a tie, to zero
    EXPECT_EQ(result("mul.f16", 2, 0x0003, 0x3800, 0, kNarrow), 0x0002U);     // 1.5 of the smallest: to two
    EXPECT_EQ(result("add.bf16x2", 2, 0x3F803F80, 0x40003F80), 0x40404000U);  // {1, 1} + {2, 1}
    EXPECT_EQ(result("mul.bf16x2", 2, 0x3F80C000, 0x40404040), 0x4040C0C0U);  // {1, -2} * {3, 3}
}

TEST(HalfPrecision, RoundsFusedProductsOnce) {
    // (1 + 2^-10)^2 - (1 + 2^-9) = 2^-20, which two roundings would lose.
    EXPECT_EQ(result("fma.rn.f16", 3, 0x3C01, 0x3C01, 0xBC02, kNarrow), 0x0010U);
    // 1024 * 1 + 0.5 plus less than the last place of a double: above the tie.
    EXPECT_EQ(result("fma.rn.bf16", 3, 0x4380, 0x3F80, 0x3F81, kNarrow),
              0x4381U);  // 256 + 1.0078: above the tie at 257
    EXPECT_EQ(result("fma.rn.bf16", 3, 0x4380, 0x3F80, 0x3F80, kNarrow), 0x4380U);  // 256 + 1: a tie, to even
    EXPECT_EQ(result("fma.rn.f16x2", 3, 0x3C003E00, 0x40003E00, 0x3C00BC00),
              0x42003D00U);  // {1 * 2 + 1, 1.5 * 1.5 - 1}
}

TEST(HalfPrecision, InfinitiesNaNAndFlushing) {
    EXPECT_EQ(result("add.f16", 2, 0x7BFF, 0x7BFF, 0, kNarrow), 0x7C00U);  // overflow
    EXPECT_EQ(result("add.f16", 2, 0x7C00, 0xFC00, 0, kNarrow), 0x7FFFU);  // inf - inf
    EXPECT_EQ(result("add.ftz.f16", 2, 0x0003, 0x0005, 0, kNarrow), 0x0000U);
    EXPECT_EQ(result("add.f16", 2, 0x0003, 0x0005, 0, kNarrow), 0x0008U);
    EXPECT_EQ(result("add.sat.f16", 2, 0x3C00, 0x3C00, 0, kNarrow), 0x3C00U);
    EXPECT_EQ(result("min.f16x2", 2, 0x3C007E00, 0x40003C00), 0x3C003C00U);  // {min(1, 2), min(NaN, 1)}
}

TEST(HalfPrecision, ConvertsFromAndToSinglePrecision) {
    const auto gpu = make_device(small_machine(), {});
    KernelBuilder k("convert", ptx::Target{8, 0, 90});
    const auto out = k.param(Type::u64, "out");
    const auto h = k.reg(Type::b16);
    const auto f = k.reg(Type::f32);
    k("mov.f32", f, 2049.0F);  // between 2048 and 2050: a tie, to even
    k("cvt.rn.f16.f32", h, f);
    k("cvt.f32.f16", f, h);
    k("st.global.f32", Mem{out}, f);
    k("mov.f32", f, -1.00390625F);  // -(1 + 2^-8): a tie in bf16, to even
    k("cvt.rn.bf16.f32", h, f);
    k("cvt.f32.bf16", f, h);
    k("st.global.f32", Mem{out, 4}, f);
    EXPECT_EQ(run(*gpu, k, 2, {1}, {1}),
              (std::vector<std::uint32_t>{std::bit_cast<std::uint32_t>(2048.0F), std::bit_cast<std::uint32_t>(-1.0F)}));
}

}  // namespace
}  // namespace gputomo::sim::test
