#include "units/quantity.hpp"

#include <gtest/gtest.h>

#include <concepts>

namespace gputomo {
namespace {

template <class A, class B>
concept Addable = requires(A a, B b) {
    a + b;
};
template <class A, class B>
concept Comparable = requires(A a, B b) {
    a < b;
};

TEST(Quantity, RefusesToAddOrCompareDifferentUnits) {
    static_assert(Addable<Nanoseconds, Nanoseconds>);
    static_assert(!Addable<Nanoseconds, Bytes>);
    static_assert(!Comparable<Bytes, Nanoseconds>);
    static_assert(!Addable<Bytes, int>);
    static_assert(!std::convertible_to<int, Bytes>);
    static_assert(!std::convertible_to<Bytes, std::int64_t>);
}

TEST(Quantity, KeepsItsUnitInArithmetic) {
    EXPECT_EQ(4_KiB + 1_B, Bytes(4097));
    EXPECT_EQ(440_B - 24_B * 2, 392_B);
    EXPECT_EQ(1_GiB / 2, 512_MiB);
    EXPECT_EQ(4097_B % 4_KiB, 1_B);
    Bytes total;
    total += 24_B;
    total -= 4_B;
    EXPECT_EQ(total, 20_B);
}

TEST(Quantity, TheRatioOfTwoQuantitiesIsABareNumber) {
    static_assert(std::same_as<decltype(8_MiB / 512_KiB), std::int64_t>);
    EXPECT_EQ(8_MiB / 512_KiB, 16);
    EXPECT_DOUBLE_EQ(Nanoseconds(1500) / Nanoseconds(1000), 1.5);
}

}  // namespace
}  // namespace gputomo
