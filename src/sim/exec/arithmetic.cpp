// Sums, products, quotients, minima, and functions such as the sine.
#include "sim/exec/meaning.hpp"
#include "sim/exec/operand_shapes.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace gputomo::sim {
namespace {

using ptx::Opcode;
using ptx::Type;

__extension__ typedef unsigned __int128 Unsigned128;
__extension__ typedef __int128 Signed128;

/// Wide multiplication: T x T (+ 2T) -> 2T.
template <class T, class Wide, bool add>
void wide(const Operation& op, LaneValues* r, std::uint32_t mask) {
    for_lanes(mask, [&](int l) {
        Wide product =
            static_cast<Wide>(static_cast<Wide>(read<T>(op, r, 0, l)) * static_cast<Wide>(read<T>(op, r, 1, l)));
        if constexpr (add)
            product = static_cast<Wide>(static_cast<std::uint64_t>(product) +
                                        static_cast<std::uint64_t>(read<Wide>(op, r, 2, l)));
        r[op.destination][l] = bits_of<Wide>(product);
    });
}

/// Integers wrap; signed overflow is defined by going through unsigned (64-bit, so that 16-bit products fit).
template <class T>
T wrap(std::uint64_t bits) {
    return static_cast<T>(static_cast<Unsigned<T>>(bits));
}
template <class T>
std::uint64_t widen(T v) {
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(v));
}

template <class T>
T f_add(T a, T b) {
    if constexpr (std::is_integral_v<T>)
        return wrap<T>(widen(a) + widen(b));
    else
        return a + b;
}
template <class T>
T f_sub(T a, T b) {
    if constexpr (std::is_integral_v<T>)
        return wrap<T>(widen(a) - widen(b));
    else
        return a - b;
}
template <class T>
T f_mul(T a, T b) {
    if constexpr (std::is_integral_v<T>)
        return wrap<T>(widen(a) * widen(b));
    else
        return a * b;
}
template <class T>
T f_mul_high(T a, T b) {
    if constexpr (sizeof(T) == 8) {
        using W = std::conditional_t<std::is_signed_v<T>, Signed128, Unsigned128>;
        return static_cast<T>((static_cast<W>(a) * static_cast<W>(b)) >> 64);
    } else {
        using W = std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>;
        return static_cast<T>((static_cast<W>(a) * static_cast<W>(b)) >> (8 * sizeof(T)));
    }
}
template <class T>
T f_mad(T a, T b, T c) {
    return f_add(f_mul(a, b), c);
}
template <class T>
T f_mad_high(T a, T b, T c) {
    return f_add(f_mul_high(a, b), c);
}
template <class T>
T f_fma(T a, T b, T c) {
    return std::fma(a, b, c);
}
template <class T>
T low24(T v) {
    if constexpr (std::is_signed_v<T>)
        return static_cast<T>(static_cast<std::int32_t>(static_cast<std::uint32_t>(v) << 8) >> 8);
    else
        return v & 0xFFFFFF;
}
template <class T>
T f_mul24(T a, T b) {
    return f_mul(low24(a), low24(b));
}
template <class T>
T f_mad24(T a, T b, T c) {
    return f_add(f_mul24(a, b), c);
}
/// The high 32 of the 48 bits of the product.
template <class T>
T f_mul24_high(T a, T b) {
    using W = std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>;
    return static_cast<T>((static_cast<W>(low24(a)) * static_cast<W>(low24(b))) >> 16);
}
template <class T>
T f_mad24_high(T a, T b, T c) {
    return f_add(f_mul24_high(a, b), c);
}
template <class T>
T f_sad(T a, T b, T c) {
    return f_add(c, a < b ? f_sub(b, a) : f_sub(a, b));
}
/// Division by zero gives all ones, as the hardware's routines do; the most negative by -1 wraps.
template <class T>
T f_div(T a, T b) {
    if constexpr (std::is_integral_v<T>) {
        if (b == 0) return static_cast<T>(~T{0});
        if constexpr (std::is_signed_v<T>)
            if (b == -1) return f_sub(T{0}, a);
    }
    return static_cast<T>(a / b);
}
template <class T>
T f_rem(T a, T b) {
    if (b == 0) return a;
    if constexpr (std::is_signed_v<T>)
        if (b == -1) return 0;
    return static_cast<T>(a % b);
}
template <class T>
T f_abs(T a) {
    if constexpr (std::is_integral_v<T>)
        return a < 0 ? f_sub(T{0}, a) : a;
    else
        return std::fabs(a);
}
template <class T>
T f_neg(T a) {
    if constexpr (std::is_integral_v<T>)
        return f_sub(T{0}, a);
    else
        return -a;
}
template <class T>
T f_min(T a, T b) {
    if constexpr (std::is_integral_v<T>)
        return std::min(a, b);
    else
        return std::fmin(a, b);
}
template <class T>
T f_max(T a, T b) {
    if constexpr (std::is_integral_v<T>)
        return std::max(a, b);
    else
        return std::fmax(a, b);
}
template <class T>
T f_rcp(T a) {
    return T{1} / a;
}
template <class T>
T f_rsqrt(T a) {
    return T{1} / std::sqrt(a);
}
template <class T>
T f_sqrt(T a) {
    return std::sqrt(a);
}
template <class T>
T f_sin(T a) {
    return std::sin(a);
}
template <class T>
T f_cos(T a) {
    return std::cos(a);
}
template <class T>
T f_lg2(T a) {
    return std::log2(a);
}
template <class T>
T f_ex2(T a) {
    return std::exp2(a);
}
template <class T>
T f_tanh(T a) {
    return std::tanh(a);
}
template <class T>
T f_copysign(T a, T b) {
    return std::copysign(b, a);
}
// The arguments are types and names, which take no parentheses.
// NOLINTBEGIN(bugprone-macro-parentheses)
#define INTEGERS(OP, MOD, SHAPE, F)                                                                         \
    {Opcode::OP, MOD, Type::u16, SHAPE<u16, F<u16>>}, {Opcode::OP, MOD, Type::s16, SHAPE<s16, F<s16>>},     \
        {Opcode::OP, MOD, Type::u32, SHAPE<u32, F<u32>>}, {Opcode::OP, MOD, Type::s32, SHAPE<s32, F<s32>>}, \
        {Opcode::OP, MOD, Type::u64, SHAPE<u64, F<u64>>}, {                                                 \
        Opcode::OP, MOD, Type::s64, SHAPE<s64, F<s64>>                                                      \
    }

#define FLOATS(OP, MOD, SHAPE, F) \
    {Opcode::OP, MOD, Type::f32, SHAPE<f32, F<f32>>}, { Opcode::OP, MOD, Type::f64, SHAPE<f64, F<f64>> }

constexpr Meaning kArithmeticMeanings[] = {
    INTEGERS(add, "", binary, f_add),
    FLOATS(add, "", binary, f_add),
    INTEGERS(sub, "", binary, f_sub),
    FLOATS(sub, "", binary, f_sub),
    INTEGERS(mul, "lo", binary, f_mul),
    INTEGERS(mul, "hi", binary, f_mul_high),
    FLOATS(mul, "", binary, f_mul),
    {Opcode::mul, "wide", Type::u16, wide<u16, u32, false>},
    {Opcode::mul, "wide", Type::s16, wide<s16, s32, false>},
    {Opcode::mul, "wide", Type::u32, wide<u32, u64, false>},
    {Opcode::mul, "wide", Type::s32, wide<s32, s64, false>},
    INTEGERS(mad, "lo", ternary, f_mad),
    INTEGERS(mad, "hi", ternary, f_mad_high),
    FLOATS(mad, "", ternary, f_fma),
    {Opcode::mad, "wide", Type::u16, wide<u16, u32, true>},
    {Opcode::mad, "wide", Type::s16, wide<s16, s32, true>},
    {Opcode::mad, "wide", Type::u32, wide<u32, u64, true>},
    {Opcode::mad, "wide", Type::s32, wide<s32, s64, true>},
    {Opcode::mul24, "lo", Type::u32, binary<u32, f_mul24<u32>>},
    {Opcode::mul24, "lo", Type::s32, binary<s32, f_mul24<s32>>},
    {Opcode::mad24, "lo", Type::u32, ternary<u32, f_mad24<u32>>},
    {Opcode::mad24, "lo", Type::s32, ternary<s32, f_mad24<s32>>},
    {Opcode::mul24, "hi", Type::u32, binary<u32, f_mul24_high<u32>>},
    {Opcode::mul24, "hi", Type::s32, binary<s32, f_mul24_high<s32>>},
    {Opcode::mad24, "hi", Type::u32, ternary<u32, f_mad24_high<u32>>},
    {Opcode::mad24, "hi", Type::s32, ternary<s32, f_mad24_high<s32>>},
    FLOATS(fma, "", ternary, f_fma),
    INTEGERS(sad, "", ternary, f_sad),
    INTEGERS(div, "", binary, f_div),
    FLOATS(div, "", binary, f_div),
    INTEGERS(rem, "", binary, f_rem),
    INTEGERS(min, "", binary, f_min),
    FLOATS(min, "", binary, f_min),
    INTEGERS(max, "", binary, f_max),
    FLOATS(max, "", binary, f_max),
    {Opcode::abs, "", Type::s16, unary<s16, f_abs<s16>>},
    {Opcode::abs, "", Type::s32, unary<s32, f_abs<s32>>},
    {Opcode::abs, "", Type::s64, unary<s64, f_abs<s64>>},
    FLOATS(abs, "", unary, f_abs),
    {Opcode::neg, "", Type::s16, unary<s16, f_neg<s16>>},
    {Opcode::neg, "", Type::s32, unary<s32, f_neg<s32>>},
    {Opcode::neg, "", Type::s64, unary<s64, f_neg<s64>>},
    FLOATS(neg, "", unary, f_neg),
    FLOATS(rcp, "", unary, f_rcp),
    FLOATS(sqrt, "", unary, f_sqrt),
    FLOATS(rsqrt, "", unary, f_rsqrt),
    {Opcode::sin, "", Type::f32, unary<f32, f_sin<f32>>},
    {Opcode::cos, "", Type::f32, unary<f32, f_cos<f32>>},
    {Opcode::lg2, "", Type::f32, unary<f32, f_lg2<f32>>},
    {Opcode::ex2, "", Type::f32, unary<f32, f_ex2<f32>>},
    {Opcode::tanh, "", Type::f32, unary<f32, f_tanh<f32>>},
    FLOATS(copysign, "", binary, f_copysign),
};
// NOLINTEND(bugprone-macro-parentheses)

#undef INTEGERS
#undef FLOATS

}  // namespace

std::span<const Meaning> arithmetic_meanings() { return kArithmeticMeanings; }

}  // namespace gputomo::sim
