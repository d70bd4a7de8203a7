// Applies a function of one, two or three values to the lanes of an operation.
#pragma once

#include "sim/exec/lanes.hpp"

#include <cstdint>
#include <type_traits>

namespace gputomo::sim {

template <class T, auto F>
void unary(const Operation& op, LaneValues* r, std::uint32_t mask) {
    for_lanes(mask,
              [&](int l) { r[op.destination][l] = bits_of<decltype(F(T{}))>(finished(op, F(read<T>(op, r, 0, l)))); });
}
template <class T, auto F>
void binary(const Operation& op, LaneValues* r, std::uint32_t mask) {
    for_lanes(mask, [&](int l) {
        r[op.destination][l] =
            bits_of<decltype(F(T{}, T{}))>(finished(op, F(read<T>(op, r, 0, l), read<T>(op, r, 1, l))));
    });
}
template <class T, auto F>
void ternary(const Operation& op, LaneValues* r, std::uint32_t mask) {
    for_lanes(mask, [&](int l) {
        r[op.destination][l] = bits_of<decltype(F(T{}, T{}, T{}))>(
            finished(op, F(read<T>(op, r, 0, l), read<T>(op, r, 1, l), read<T>(op, r, 2, l))));
    });
}
/// T source shifted by a u32.
template <class T, auto F>
void shift(const Operation& op, LaneValues* r, std::uint32_t mask) {
    for_lanes(mask, [&](int l) {
        r[op.destination][l] = bits_of<T>(F(read<T>(op, r, 0, l), read<std::uint32_t>(op, r, 1, l)));
    });
}
/// The unsigned integer of the same size.
template <class T>
using Unsigned = std::make_unsigned_t<T>;

}  // namespace gputomo::sim
