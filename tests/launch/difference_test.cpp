// How buffers differ, by bytes and by numbers, and what a tolerance allows.
#include "launch/launch.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace gputomo::launch {
namespace {

template <class T>
std::vector<std::byte> bytes_of(const std::vector<T>& values) {
    std::vector<std::byte> bytes(values.size() * sizeof(T));
    std::memcpy(bytes.data(), values.data(), bytes.size());
    return bytes;
}

template <class T>
std::optional<Difference> compared(const std::vector<T>& expected, const std::vector<T>& made,
                                   const Tolerance& tolerance = {}) {
    const auto bytes = bytes_of(expected);
    const Buffer buffer{.name = "b", .bytes = bytes.size(), .fill = [bytes](std::span<std::byte> to) {
                            std::ranges::copy(bytes, to.begin());
                        }};
    return difference(buffer, bytes_of(made), tolerance);
}

using Floats = std::vector<float>;

TEST(Difference, IsNoneBetweenEqualBytes) {
    EXPECT_FALSE(compared(Floats{1, 2}, Floats{1, 2}));
    EXPECT_FALSE(compared(Floats{}, Floats{}));
}

TEST(Difference, SaysHowManyUnitsInTheLastPlace) {
    const auto found = compared(Floats{1, 100, -3}, Floats{1, std::nextafter(100.0F, 200.0F), -3 - 0x1p-20F});
    ASSERT_TRUE(found);
    EXPECT_EQ(found->offset, 4U);
    EXPECT_EQ(found->as_numbers.numbers, 2U);
    EXPECT_EQ(found->as_numbers.without_size, 0U);
    EXPECT_EQ(found->as_numbers.units, 4);
    EXPECT_NEAR(found->as_numbers.relative, 0x1p-20 / 3, 1e-12);
    EXPECT_FALSE(found->tolerated);
}

TEST(Difference, IsWithinAToleranceWhereAllNumbersAre) {
    const Floats expected{1, 1000}, made{1, 1000.01F};
    EXPECT_TRUE(compared(expected, made, {.relative = 2e-5})->tolerated);
    EXPECT_FALSE(compared(expected, made, {.relative = 5e-6})->tolerated);
    EXPECT_TRUE(compared(Floats{0}, Floats{-0.0F})->tolerated) << "zeros differ in their signs alone";
}

TEST(Difference, NumbersWithoutASizeAreNeverTolerated) {
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    for (const float other : {kInfinity, std::numeric_limits<float>::quiet_NaN(), 1e-40F}) {
        const auto found = compared(Floats{1, 5}, Floats{other, 5}, {.relative = 0.9});
        EXPECT_EQ(found->as_numbers.without_size, 1U) << other;
        EXPECT_FALSE(found->tolerated) << other;
    }
    // Counts are subnormal floats.
    EXPECT_FALSE((compared(std::vector<int>{100000}, std::vector<int>{100001}, {.relative = 0.1})->tolerated));
}

TEST(Difference, ReadsTheTypeThatTheToleranceNames) {
    const std::vector<std::uint16_t> expected{0x3C00, 0x4000}, made{0x3C01, 0x4000};  // 1 and 2
    const auto halves = compared(expected, made, {NumberType::f16, 1e-3});
    EXPECT_EQ(halves->as_numbers.units, 1);
    EXPECT_TRUE(halves->tolerated);
    EXPECT_EQ(
        compared(std::vector<double>{1}, std::vector<double>{1 + 0x1p-50}, {NumberType::f64, 1e-12})->as_numbers.units,
        4);
    EXPECT_EQ(compared(std::vector<std::uint16_t>{0x3F80}, std::vector<std::uint16_t>{0x3F82}, {NumberType::bf16, 0})
                  ->as_numbers.units,
              2);
    EXPECT_EQ(number_type_named("bf16"), NumberType::bf16);
    EXPECT_EQ(number_type_named("s32"), std::nullopt);
}

TEST(Difference, BytesBehindTheLastNumberHaveToBeEqual) {
    const std::vector<std::uint8_t> expected(6, 1);
    auto made = expected;
    made[5] = 2;
    EXPECT_FALSE(compared(expected, made, {.relative = 0.5})->tolerated);
    EXPECT_EQ(compared(expected, made)->as_numbers.numbers, 0U);
}

}  // namespace
}  // namespace gputomo::launch
