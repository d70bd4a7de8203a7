// What atomic operations leave in memory.
#pragma once

#include "sim/exec/lanes.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace gputomo::sim {

/// The values of Operation::mode for atomics.
enum class Atomic : std::uint8_t { add, min, max, exchange, compare_swap, and_, or_, xor_, increment, decrement };

template <class T>
[[nodiscard]] T atomic_result(Atomic mode, T old, T a, T b) {
    switch (mode) {
        case Atomic::add:
            if constexpr (std::is_integral_v<T>)
                return static_cast<T>(static_cast<std::make_unsigned_t<T>>(old) +
                                      static_cast<std::make_unsigned_t<T>>(a));
            else
                return old + a;
        case Atomic::min: return std::min(old, a);
        case Atomic::max: return std::max(old, a);
        case Atomic::exchange: return a;
        case Atomic::compare_swap: return old == a ? b : old;
        case Atomic::increment: return old >= a ? T{0} : static_cast<T>(old + 1);
        case Atomic::decrement: return old == T{0} || old > a ? a : static_cast<T>(old - 1);
        default: break;
    }
    if constexpr (std::is_integral_v<T>) {
        if (mode == Atomic::and_) return static_cast<T>(old & a);
        if (mode == Atomic::or_) return static_cast<T>(old | a);
        if (mode == Atomic::xor_) return static_cast<T>(old ^ a);
    }
    return old;
}

/// Performs an atomic on the bytes at `at` and returns what they held before.
template <class T>
std::uint64_t apply_atomic(Atomic mode, std::byte* at, std::uint64_t a, std::uint64_t b) {
    T old;
    std::memcpy(&old, at, sizeof old);
    const T result = atomic_result(mode, old, as<T>(a), as<T>(b));
    std::memcpy(at, &result, sizeof result);
    return bits_of(old);
}

}  // namespace gputomo::sim
