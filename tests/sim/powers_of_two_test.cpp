#include "sim/exec/powers_of_two.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace gputomo::sim {
namespace {

constexpr double kValues[] = {1.0,
                              -1.0,
                              1.9999999999999998,
                              3.0,
                              -0.1,
                              1e300,
                              -1e-300,
                              std::numeric_limits<double>::min(),
                              std::numeric_limits<double>::denorm_min(),
                              std::numeric_limits<double>::max()};

TEST(PowersOfTwo, MultiplyAsTheCLibraryDoes) {
    for (const double value : kValues)
        for (int exponent = -2200; exponent <= 2200; ++exponent)
            EXPECT_EQ(times_power_of_two(value, exponent), std::ldexp(value, exponent)) << value << " * 2^" << exponent;
    EXPECT_TRUE(std::signbit(times_power_of_two(-0.0, 3)));
    EXPECT_TRUE(std::isinf(times_power_of_two(std::numeric_limits<double>::infinity(), -5)));
    EXPECT_TRUE(std::isnan(times_power_of_two(std::numeric_limits<double>::quiet_NaN(), 1)));
}

TEST(PowersOfTwo, ExponentsAreThoseOfTheCLibrary) {
    for (const double value : kValues) EXPECT_EQ(binary_exponent(value), std::ilogb(value)) << value;
}

}  // namespace
}  // namespace gputomo::sim
