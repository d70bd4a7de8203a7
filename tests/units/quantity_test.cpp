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

TEST(Quantity, OfDifferentUnitsNeitherAddNorCompare) {
    static_assert(Addable<Cycles, Cycles>);
    static_assert(!Addable<Cycles, Bytes>);
    static_assert(!Comparable<Cycles, Nanoseconds>);
    static_assert(!Addable<Cycles, int>);
    static_assert(!std::convertible_to<int, Bytes>);
    static_assert(!std::convertible_to<Bytes, std::int64_t>);
}

TEST(Quantity, ArithmeticKeepsTheUnit) {
    EXPECT_EQ(4_KiB + 1_B, Bytes(4097));
    EXPECT_EQ(Cycles(440) - Cycles(24) * 2, Cycles(392));
    EXPECT_EQ(1_GiB / 2, 512_MiB);
    EXPECT_EQ(4097_B % 4_KiB, 1_B);
    Cycles total;
    total += Cycles(24);
    total -= Cycles(4);
    EXPECT_EQ(total, Cycles(20));
}

TEST(Quantity, ARatioHasNoUnit) {
    static_assert(std::same_as<decltype(8_MiB / 512_KiB), std::int64_t>);
    EXPECT_EQ(8_MiB / 512_KiB, 16);
    EXPECT_DOUBLE_EQ(Nanoseconds(1500) / Nanoseconds(1000), 1.5);
}

}  // namespace
}  // namespace gputomo
