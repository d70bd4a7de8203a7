// The 16-bit floating-point formats f16 and bf16: their values, and the rounding to them.
#pragma once

#include "sim/exec/directed_rounding.hpp"
#include "sim/exec/powers_of_two.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace gputomo::sim {

/// A 16-bit format: bits of the exponent and of the fraction.
template <int exponent, int fraction>
struct Format {
    static constexpr int kExponent = exponent;
    static constexpr int kFraction = fraction;
    static constexpr int kBias = (1 << (exponent - 1)) - 1;
    static constexpr std::uint16_t kInfinity = ((1U << exponent) - 1) << fraction;
    static constexpr std::uint16_t kNaN = 0x7FFF;  // what GPUs give for every NaN
};
using F16 = Format<5, 10>;
using BF16 = Format<8, 7>;

template <class F>
[[nodiscard]] double value_of(std::uint16_t bits) {
    const double sign = (bits & 0x8000) != 0 ? -1 : 1;
    const int exponent = (bits & 0x7FFF) >> F::kFraction;
    const int fraction = bits & ((1 << F::kFraction) - 1);
    if ((bits & F::kInfinity) == F::kInfinity)
        return fraction != 0 ? std::numeric_limits<double>::quiet_NaN()
                             : sign * std::numeric_limits<double>::infinity();
    if (exponent == 0) return sign * times_power_of_two(fraction, 1 - F::kBias - F::kFraction);
    return sign * times_power_of_two(fraction + (1 << F::kFraction), exponent - F::kBias - F::kFraction);
}

/// The nearest value, ties to even.
template <class F>
[[nodiscard]] std::uint16_t rounded(double value) {
    if (std::isnan(value)) return F::kNaN;
    const std::uint16_t sign = std::signbit(value) ? 0x8000 : 0;
    const double magnitude = std::fabs(value);
    if (magnitude == 0) return sign;
    if (std::isinf(magnitude)) return sign | F::kInfinity;
    // In units of the last place, which below the smallest normal number is that of the subnormal ones.
    const int exponent = std::max(binary_exponent(magnitude), 1 - F::kBias);
    const auto units =
        static_cast<std::int64_t>(std::nearbyint(times_power_of_two(magnitude, F::kFraction - exponent)));
    // A carry out of the fraction goes into the exponent by itself.
    const std::int64_t bits = units + (static_cast<std::int64_t>(exponent + F::kBias - 1) << F::kFraction);
    return static_cast<std::uint16_t>(sign | std::min<std::int64_t>(bits, F::kInfinity));
}

/// The value in the direction of the rounding. What is too large becomes infinite only where it is rounded away from
/// zero.
template <class F>
[[nodiscard]] std::uint16_t rounded(double value, Rounding rounding) {
    if (!is_directed(rounding) || std::isnan(value) || std::isinf(value) || value == 0) return rounded<F>(value);
    const bool negative = std::signbit(value);
    const bool away = rounding == (negative ? Rounding::down : Rounding::up);
    const double magnitude = std::fabs(value);
    const int exponent = std::max(binary_exponent(magnitude), 1 - F::kBias);
    const double units = times_power_of_two(magnitude, F::kFraction - exponent);
    const std::int64_t bits = static_cast<std::int64_t>(away ? std::ceil(units) : std::floor(units)) +
                              (static_cast<std::int64_t>(exponent + F::kBias - 1) << F::kFraction);
    const std::int64_t largest = away ? F::kInfinity : F::kInfinity - 1;
    return static_cast<std::uint16_t>((negative ? 0x8000 : 0) | std::min<std::int64_t>(bits, largest));
}

/// a + b, rounded to odd: a further rounding to a narrower format is then the only one (Boldo and Melquiond 2008).
[[nodiscard]] inline double odd_sum(double a, double b) {
    volatile double sum = a + b;
    if (!std::isfinite(sum)) return sum;
    volatile double part = sum - a;
    volatile double rest = sum - part;
    volatile double error = (a - rest) + (b - part);
    if (error == 0) return sum;
    const bool even = (std::bit_cast<std::uint64_t>(double{sum}) & 1) == 0;
    const double towards =
        error > 0 ? std::numeric_limits<double>::infinity() : -std::numeric_limits<double>::infinity();
    return even ? std::nextafter(sum, towards) : sum;
}

/// Arithmetic on the values of halves, to be rounded to their format. These are functions with names, because Clang 19
/// gives lambdas of several files that are template arguments one symbol.
using HalfFunction = double (*)(double, double, double);
inline double half_sum(double a, double b, double /*c*/) { return odd_sum(a, b); }
inline double half_product(double a, double b, double /*c*/) { return a * b; }  // at most 22 bits: exact
inline double half_fused(double a, double b, double c) { return odd_sum(a * b, c); }

}  // namespace gputomo::sim
