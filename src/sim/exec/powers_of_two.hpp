// Powers of two and exponents of doubles. The C library's functions take ten times as long, and a product of halves
// needs several for each of its elements.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace gputomo::sim {

inline constexpr int kDoubleBias = 1023, kDoubleFraction = 52;

/// value * 2^exponent, rounded as std::ldexp rounds it.
[[nodiscard]] inline double times_power_of_two(double value, int exponent) {
    if (exponent <= -kDoubleBias || exponent > kDoubleBias) return std::ldexp(value, exponent);
    return value * std::bit_cast<double>(static_cast<std::uint64_t>(exponent + kDoubleBias) << kDoubleFraction);
}

/// The largest e with 2^e <= |value|, as std::ilogb. `value` is neither zero, infinite nor not a number.
[[nodiscard]] inline int binary_exponent(double value) {
    constexpr std::uint64_t kMask = 0x7FF;
    const auto field = static_cast<int>(std::bit_cast<std::uint64_t>(value) >> kDoubleFraction & kMask);
    return field == 0 ? std::ilogb(value) : field - kDoubleBias;
}

}  // namespace gputomo::sim
