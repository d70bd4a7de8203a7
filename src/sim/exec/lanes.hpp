// Reads and writes the lanes of register slots as typed values.
#pragma once

#include "sim/exec/program.hpp"

#include <bit>
#include <cmath>
#include <cstring>
#include <type_traits>

namespace gputomo::sim {

/// Whether threads of both half-warps take part.
inline bool in_both_halves(std::uint32_t mask) {
    constexpr std::uint32_t kHalf = 0xFFFF;
    return (mask & kHalf) != 0 && (mask & ~kHalf) != 0;
}

/// Threads in a mask. Most warps are whole, and std::popcount is a function call on x86-64 without extensions.
[[nodiscard]] inline std::uint32_t thread_count(std::uint32_t mask) {
    return mask == ~std::uint32_t{0} ? std::uint32_t{kWarpSize} : static_cast<std::uint32_t>(std::popcount(mask));
}

/// The low bytes of a slot as a T.
template <class T>
T as(std::uint64_t bits) {
    if constexpr (std::is_same_v<T, bool>) {
        return bits != 0;
    } else {
        T value;
        std::memcpy(&value, &bits, sizeof value);
        return value;
    }
}

template <class T>
std::uint64_t bits_of(T value) {
    std::uint64_t bits = 0;
    if constexpr (std::is_same_v<T, bool>) return value ? 1 : 0;
    std::memcpy(&bits, &value, sizeof value);
    return bits;
}

/// A float operand or result, flushed to zero when the instruction says .ftz.
template <class T>
T flushed(const Operation& operation, T value) {
    if constexpr (std::is_same_v<T, float>)
        if (operation.flush && std::fpclassify(value) == FP_SUBNORMAL) return std::copysign(0.0F, value);
    return value;
}

template <class T>
T finished(const Operation& operation, T value) {
    if constexpr (std::is_floating_point_v<T>) {
        if (operation.saturate) value = value > T{0} ? (value < T{1} ? value : T{1}) : T{0};
        return flushed(operation, value);
    }
    return value;
}

template <class T>
T read(const Operation& operation, const LaneValues* registers, int which, int lane) {
    const auto raw =
        as<T>(registers[operation.source[static_cast<std::size_t>(which)]][static_cast<std::size_t>(lane)]);
    if constexpr (std::is_same_v<T, bool>) return raw != (((operation.negated_sources >> which) & 1) != 0);
    return flushed(operation, raw);
}

/// Calls body(lane) for every lane in the mask.
template <class Body>
void for_lanes(std::uint32_t mask, Body&& body) {
    if (mask == 0xFFFFFFFF) {
        for (int lane = 0; lane < kWarpSize; ++lane) body(lane);
        return;
    }
    for (; mask != 0; mask &= mask - 1) body(std::countr_zero(mask));
}

/// The lanes in `mask` whose guard predicate lets them perform the operation.
inline std::uint32_t active_lanes(const Operation& operation, const LaneValues* registers, std::uint32_t mask) {
    if (operation.guard == kNoSlot) return mask;
    const LaneValues& guard = registers[operation.guard];
    std::uint32_t holds = 0;
    for_lanes(mask, [&](int lane) {
        holds |= static_cast<std::uint32_t>(guard[static_cast<std::size_t>(lane)] != 0) << lane;
    });
    return operation.guard_negated ? mask & ~holds : mask & holds;
}

}  // namespace gputomo::sim
