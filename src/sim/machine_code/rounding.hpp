// What the floating-point operations of machine code have in common.
#pragma once

#include "sim/exec/directed_rounding.hpp"

#include <bit>
#include <cmath>
#include <cstdint>

namespace gputomo::sim::machine_code {

/// The single-precision NaN that GPUs return.
inline constexpr std::uint32_t kNaN = 0x7FFFFFFF;

/// The values of Modifier::rounding.
[[nodiscard]] constexpr Rounding rounding_of(unsigned value) {
    constexpr Rounding kRoundings[] = {Rounding::nearest, Rounding::down, Rounding::up, Rounding::zero};
    return kRoundings[value & 3];
}

[[nodiscard]] inline bool is_subnormal(std::uint32_t bits) { return (bits & 0x7F800000) == 0; }

/// A float, with subnormal values replaced by zero of the same sign where `flush` is set.
[[nodiscard]] inline float float_of(std::uint32_t bits, bool flush) {
    return std::bit_cast<float>(flush && is_subnormal(bits) ? bits & 0x80000000 : bits);
}

/// The bits of a result: one NaN for all, saturated to [0, 1] or flushed where asked.
[[nodiscard]] inline std::uint32_t result_bits(float value, bool flush, bool saturate) {
    if (std::isnan(value)) return saturate ? 0 : kNaN;
    if (saturate) value = value > 0 ? (value < 1 ? value : 1.0F) : 0.0F;
    const auto bits = std::bit_cast<std::uint32_t>(value);
    return flush && is_subnormal(bits) ? bits & 0x80000000 : bits;
}

/// function(a, b, c) with the rounding. Volatile objects keep the operation between the changes of the host's mode.
template <class T, class Function>
[[nodiscard]] T rounded_result(Rounding rounding, Function&& function, T a, T b, T c) {
    if (!is_directed(rounding)) return function(a, b, c);
    const RoundingGuard guard(rounding);
    volatile T x = a, y = b, z = c;
    volatile T result = function(T{x}, T{y}, T{z});
    return T{result};
}

/// A double as the nearest float, or the next one in the direction of the rounding.
[[nodiscard]] inline float narrowed(Rounding rounding, double value) {
    if (!is_directed(rounding)) return static_cast<float>(value);
    const RoundingGuard guard(rounding);
    volatile double from = value;
    volatile float to = static_cast<float>(double{from});
    return float{to};
}

}  // namespace gputomo::sim::machine_code
