// What arithmetic, logic and comparison instructions compute: one table row each.
#include "sim/exec/lanes.hpp"

#include <algorithm>
#include <limits>
#include <span>

namespace gputomo::sim {
namespace {

using ptx::Opcode;
using ptx::Type;

__extension__ typedef unsigned __int128 Unsigned128;
__extension__ typedef __int128 Signed128;

// ---- shapes: how many operands, of what type ---------------------------------------------------------------------

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

// ---- functions -----------------------------------------------------------------------------------------------------

template <class T>
using Unsigned = std::make_unsigned_t<T>;

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
T f_and(T a, T b) {
    return static_cast<T>(a & b);
}
template <class T>
T f_or(T a, T b) {
    return static_cast<T>(a | b);
}
template <class T>
T f_xor(T a, T b) {
    return static_cast<T>(a ^ b);
}
template <class T>
T f_not(T a) {
    if constexpr (std::is_same_v<T, bool>)
        return !a;
    else
        return static_cast<T>(~a);
}
template <class T>
T f_cnot(T a) {
    return a == 0 ? 1 : 0;
}
template <class T>
T f_shl(T a, std::uint32_t n) {
    return n >= 8 * sizeof(T) ? T{0} : static_cast<T>(static_cast<Unsigned<T>>(a) << n);
}
template <class T>
T f_shr(T a, std::uint32_t n) {
    constexpr std::uint32_t kBits = 8 * sizeof(T);
    if (n >= kBits) return std::is_signed_v<T> && a < 0 ? static_cast<T>(-1) : T{0};
    return static_cast<T>(a >> n);
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
template <class T>
std::uint32_t f_popc(T a) {
    return static_cast<std::uint32_t>(std::popcount(a));
}
template <class T>
std::uint32_t f_clz(T a) {
    return static_cast<std::uint32_t>(std::countl_zero(a));
}
template <class T>
T f_brev(T a) {
    T out = 0;
    for (std::size_t i = 0; i < 8 * sizeof(T); ++i, a >>= 1) out = static_cast<T>((out << 1) | (a & 1));
    return out;
}
template <class T>
std::uint32_t f_bfind(T a) {
    using U = Unsigned<T>;
    U magnitude = static_cast<U>(a);
    if constexpr (std::is_signed_v<T>)
        if (a < 0) magnitude = static_cast<U>(~magnitude);
    return magnitude == 0 ? 0xFFFFFFFF
                          : static_cast<std::uint32_t>(8 * sizeof(U) - 1) -
                                static_cast<std::uint32_t>(std::countl_zero(magnitude));
}

// ---- shapes of their own -------------------------------------------------------------------------------------------

template <class T>
bool compared(Compare how, T a, T b) {
    bool unordered = false;
    if constexpr (std::is_floating_point_v<T>) unordered = std::isnan(a) || std::isnan(b);
    switch (how) {
        case Compare::eq: return a == b;
        case Compare::ne: return !unordered && a != b;
        case Compare::lt: return a < b;
        case Compare::le: return a <= b;
        case Compare::gt: return a > b;
        case Compare::ge: return a >= b;
        case Compare::equ: return unordered || a == b;
        case Compare::neu: return unordered || a != b;
        case Compare::ltu: return unordered || a < b;
        case Compare::leu: return unordered || a <= b;
        case Compare::gtu: return unordered || a > b;
        case Compare::geu: return unordered || a >= b;
        case Compare::num: return !unordered;
        case Compare::nan: return unordered;
    }
    return false;
}

bool combined(Combine how, bool a, bool b) {
    switch (how) {
        case Combine::none: return a;
        case Combine::and_: return a && b;
        case Combine::or_: return a || b;
        case Combine::xor_: return a != b;
    }
    return a;
}

template <class T>
void setp(const Operation& op, LaneValues* r, std::uint32_t mask) {
    const auto how = static_cast<Compare>(op.compare);
    const auto combine = static_cast<Combine>(op.combine);
    for_lanes(mask, [&](int l) {
        const bool test = compared(how, read<T>(op, r, 0, l), read<T>(op, r, 1, l));
        const bool other = op.source[2] != kNoSlot && read<bool>(op, r, 2, l);
        r[op.destination][l] = combined(combine, test, other) ? 1 : 0;
        if (op.destination2 != kNoSlot) r[op.destination2][l] = combined(combine, !test, other) ? 1 : 0;
    });
}
/// d = all ones (or 1.0) where the comparison holds, else 0.
template <class D, class T>
void set(const Operation& op, LaneValues* r, std::uint32_t mask) {
    const auto how = static_cast<Compare>(op.compare);
    const auto combine = static_cast<Combine>(op.combine);
    constexpr std::uint64_t kTrue = std::is_floating_point_v<D> ? 0x3F800000 : 0xFFFFFFFF;
    for_lanes(mask, [&](int l) {
        const bool test = compared(how, read<T>(op, r, 0, l), read<T>(op, r, 1, l));
        const bool other = op.source[2] != kNoSlot && read<bool>(op, r, 2, l);
        r[op.destination][l] = combined(combine, test, other) ? kTrue : 0;
    });
}
template <class T>
void selp(const Operation& op, LaneValues* r, std::uint32_t mask) {
    for_lanes(mask, [&](int l) {
        r[op.destination][l] = bits_of<T>(read<bool>(op, r, 2, l) ? read<T>(op, r, 0, l) : read<T>(op, r, 1, l));
    });
}
template <class T>
void move(const Operation& op, LaneValues* r, std::uint32_t mask) {
    for_lanes(mask, [&](int l) { r[op.destination][l] = bits_of<T>(read<T>(op, r, 0, l)); });
}
template <class T>
void bfe(const Operation& op, LaneValues* r, std::uint32_t mask) {
    constexpr std::uint32_t kBits = 8 * sizeof(T);
    for_lanes(mask, [&](int l) {
        const auto value = read<T>(op, r, 0, l);
        const std::uint32_t position = read<std::uint32_t>(op, r, 1, l) & 0xFF,
                            length = read<std::uint32_t>(op, r, 2, l) & 0xFF;
        T out = 0;
        if (length != 0) {
            const std::uint32_t sign_at = std::min(position + length - 1, kBits - 1);
            const bool sign = std::is_signed_v<T> && ((static_cast<Unsigned<T>>(value) >> sign_at) & 1) != 0;
            for (std::uint32_t i = 0; i < kBits; ++i) {
                const bool bit = i < length && position + i < kBits
                                     ? ((static_cast<Unsigned<T>>(value) >> (position + i)) & 1) != 0
                                     : sign;
                out = static_cast<T>(static_cast<Unsigned<T>>(out) |
                                     static_cast<Unsigned<T>>(static_cast<Unsigned<T>>(bit) << i));
            }
        }
        r[op.destination][l] = bits_of<T>(out);
    });
}
template <class T>
void bfi(const Operation& op, LaneValues* r, std::uint32_t mask) {
    constexpr std::uint32_t kBits = 8 * sizeof(T);
    for_lanes(mask, [&](int l) {
        const T insert = read<T>(op, r, 0, l);
        T base = read<T>(op, r, 1, l);
        const std::uint32_t position = read<std::uint32_t>(op, r, 2, l) & 0xFF,
                            length = read<std::uint32_t>(op, r, 3, l) & 0xFF;
        for (std::uint32_t i = 0; i < length && position + i < kBits; ++i) {
            const T bit = static_cast<T>(T{1} << (position + i));
            base = ((insert >> i) & 1) != 0 ? static_cast<T>(base | bit) : static_cast<T>(base & ~bit);
        }
        r[op.destination][l] = bits_of<T>(base);
    });
}
void lop3(const Operation& op, LaneValues* r, std::uint32_t mask) {
    for_lanes(mask, [&](int l) {
        const auto a = read<std::uint32_t>(op, r, 0, l), b = read<std::uint32_t>(op, r, 1, l),
                   c = read<std::uint32_t>(op, r, 2, l);
        std::uint32_t out = 0;
        for (std::uint32_t row = 0; row < 8; ++row)
            if (((op.mode >> row) & 1) != 0)
                out |= ((row & 4) != 0 ? a : ~a) & ((row & 2) != 0 ? b : ~b) & ((row & 1) != 0 ? c : ~c);
        r[op.destination][l] = out;
    });
}
/// mode 0: default; the selector picks four bytes of {b, a}, bit 3 of each nibble replicates the sign.
void prmt(const Operation& op, LaneValues* r, std::uint32_t mask) {
    for_lanes(mask, [&](int l) {
        const std::uint64_t both =
            read<std::uint32_t>(op, r, 0, l) | (std::uint64_t{read<std::uint32_t>(op, r, 1, l)} << 32);
        const auto selector = read<std::uint32_t>(op, r, 2, l);
        std::uint32_t out = 0;
        for (std::uint32_t i = 0; i < 4; ++i) {
            const std::uint32_t pick = (selector >> (4 * i)) & 0xF;
            auto byte = static_cast<std::uint32_t>((both >> (8 * (pick & 7))) & 0xFF);
            if ((pick & 8) != 0) byte = (byte & 0x80) != 0 ? 0xFF : 0;
            out |= byte << (8 * i);
        }
        r[op.destination][l] = out;
    });
}
template <bool left, bool wrap_amount>
void funnel(const Operation& op, LaneValues* r, std::uint32_t mask) {
    for_lanes(mask, [&](int l) {
        const std::uint64_t both =
            read<std::uint32_t>(op, r, 0, l) | (std::uint64_t{read<std::uint32_t>(op, r, 1, l)} << 32);
        const auto amount = read<std::uint32_t>(op, r, 2, l);
        const std::uint32_t n = wrap_amount ? amount & 31 : std::min<std::uint32_t>(amount, 32);
        r[op.destination][l] = static_cast<std::uint32_t>(left ? (both << n) >> 32 : both >> n);
    });
}

// ---- the table -----------------------------------------------------------------------------------------------------

struct Meaning {  // NOLINT(clang-analyzer-optin.performance.Padding): rows read in PTX's order
    Opcode opcode;
    std::string_view modifier;  ///< modifier that the instruction must have; empty: none
    Type type;
    ExecuteFunction execute;
    Type source_type = Type::none;  ///< of set only
};

using u16 = std::uint16_t;
using s16 = std::int16_t;
using u32 = std::uint32_t;
using s32 = std::int32_t;
using u64 = std::uint64_t;
using s64 = std::int64_t;
using f32 = float;
using f64 = double;

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
#define BITS(OP, SHAPE, F)                                                                              \
    {Opcode::OP, "", Type::b16, SHAPE<u16, F<u16>>}, {Opcode::OP, "", Type::b32, SHAPE<u32, F<u32>>}, { \
        Opcode::OP, "", Type::b64, SHAPE<u64, F<u64>>                                                   \
    }
#define ALL_TYPES(OP, SHAPE)                                                                \
    {Opcode::OP, "", Type::b16, SHAPE<u16>}, {Opcode::OP, "", Type::b32, SHAPE<u32>},       \
        {Opcode::OP, "", Type::b64, SHAPE<u64>}, {Opcode::OP, "", Type::u16, SHAPE<u16>},   \
        {Opcode::OP, "", Type::u32, SHAPE<u32>}, {Opcode::OP, "", Type::u64, SHAPE<u64>},   \
        {Opcode::OP, "", Type::s16, SHAPE<s16>}, {Opcode::OP, "", Type::s32, SHAPE<s32>},   \
        {Opcode::OP, "", Type::s64, SHAPE<s64>}, {Opcode::OP, "", Type::f32, SHAPE<f32>}, { \
        Opcode::OP, "", Type::f64, SHAPE<f64>                                               \
    }

#define SETS_OF(D, DT, S, ST) \
    { Opcode::set, "", Type::D, set<DT, ST>, Type::S }
#define SETS(D, DT)                                                                                             \
    SETS_OF(D, DT, b16, u16), SETS_OF(D, DT, b32, u32), SETS_OF(D, DT, b64, u64), SETS_OF(D, DT, u16, u16),     \
        SETS_OF(D, DT, u32, u32), SETS_OF(D, DT, u64, u64), SETS_OF(D, DT, s16, s16), SETS_OF(D, DT, s32, s32), \
        SETS_OF(D, DT, s64, s64), SETS_OF(D, DT, f32, f32), SETS_OF(D, DT, f64, f64)

constexpr Meaning kMeanings[] = {
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
    BITS(and_, binary, f_and),
    BITS(or_, binary, f_or),
    BITS(xor_, binary, f_xor),
    BITS(not_, unary, f_not),
    BITS(cnot, unary, f_cnot),
    {Opcode::and_, "", Type::pred, binary<bool, f_and<bool>>},
    {Opcode::or_, "", Type::pred, binary<bool, f_or<bool>>},
    {Opcode::xor_, "", Type::pred, binary<bool, f_xor<bool>>},
    {Opcode::not_, "", Type::pred, unary<bool, f_not<bool>>},
    {Opcode::mov, "", Type::pred, move<bool>},
    BITS(shl, shift, f_shl),
    BITS(shr, shift, f_shr),
    INTEGERS(shr, "", shift, f_shr),
    {Opcode::popc, "", Type::b32, unary<u32, f_popc<u32>>},
    {Opcode::popc, "", Type::b64, unary<u64, f_popc<u64>>},
    {Opcode::clz, "", Type::b32, unary<u32, f_clz<u32>>},
    {Opcode::clz, "", Type::b64, unary<u64, f_clz<u64>>},
    {Opcode::brev, "", Type::b32, unary<u32, f_brev<u32>>},
    {Opcode::brev, "", Type::b64, unary<u64, f_brev<u64>>},
    {Opcode::bfind, "", Type::u32, unary<u32, f_bfind<u32>>},
    {Opcode::bfind, "", Type::s32, unary<s32, f_bfind<s32>>},
    {Opcode::bfind, "", Type::u64, unary<u64, f_bfind<u64>>},
    {Opcode::bfind, "", Type::s64, unary<s64, f_bfind<s64>>},
    {Opcode::bfe, "", Type::u32, bfe<u32>},
    {Opcode::bfe, "", Type::s32, bfe<s32>},
    {Opcode::bfe, "", Type::u64, bfe<u64>},
    {Opcode::bfe, "", Type::s64, bfe<s64>},
    {Opcode::bfi, "", Type::b32, bfi<u32>},
    {Opcode::bfi, "", Type::b64, bfi<u64>},
    {Opcode::lop3, "", Type::b32, lop3},
    {Opcode::prmt, "", Type::b32, prmt},
    {Opcode::shf, "l.wrap", Type::b32, funnel<true, true>},
    {Opcode::shf, "l.clamp", Type::b32, funnel<true, false>},
    {Opcode::shf, "r.wrap", Type::b32, funnel<false, true>},
    {Opcode::shf, "r.clamp", Type::b32, funnel<false, false>},
    ALL_TYPES(setp, setp),
    ALL_TYPES(selp, selp),
    ALL_TYPES(mov, move),
    SETS(u32, u32),
    SETS(s32, u32),
    SETS(f32, f32),
};
// NOLINTEND(bugprone-macro-parentheses)

#undef SETS
#undef SETS_OF
#undef INTEGERS
#undef FLOATS
#undef BITS
#undef ALL_TYPES

/// Modifiers that need no row of their own: the default rounding, flags and comparisons in Operation, and
/// approximations. The simulator computes approximations to the nearest value of the host's library.
constexpr std::string_view kHandled[] = {"rn", "approx", "full", "ftz", "uni"};
constexpr std::string_view kComparisons[] = {"eq",  "ne",  "lt",  "le",  "gt",  "ge",  "lo",  "ls",  "hi", "hs", "equ",
                                             "neu", "ltu", "leu", "gtu", "geu", "num", "nan", "and", "or", "xor"};

bool contains(std::span<const std::string_view> list, std::string_view what) {
    return std::find(list.begin(), list.end(), what) != list.end();
}

/// Whether this modifier is part of the row ("l.wrap") or needs no row of its own.
bool handled(const ptx::Instruction& instruction, std::string_view row, std::string_view modifier) {
    const bool is_float = instruction.type == Type::f32 || instruction.type == Type::f64;
    if (contains(kHandled, modifier) || (modifier == "sat" && is_float)) return true;
    if ((instruction.opcode == Opcode::setp || instruction.opcode == Opcode::set) && contains(kComparisons, modifier))
        return true;
    for (std::size_t at = 0; at <= row.size();) {
        const auto dot = std::min(row.find('.', at), row.size());
        if (row.substr(at, dot - at) == modifier) return true;
        at = dot + 1;
    }
    return false;
}

bool has_all(const ptx::Instruction& instruction, std::string_view modifiers) {
    while (!modifiers.empty()) {
        const auto dot = modifiers.find('.');
        if (!instruction.has(modifiers.substr(0, dot))) return false;
        modifiers = dot == std::string_view::npos ? std::string_view{} : modifiers.substr(dot + 1);
    }
    return true;
}

}  // namespace

ExecuteFunction meaning_of(const ptx::Instruction& instruction) {
    for (const auto& row : kMeanings) {
        if (row.opcode != instruction.opcode || row.type != instruction.type || !has_all(instruction, row.modifier))
            continue;
        if (row.opcode == Opcode::set && row.source_type != instruction.source_type) continue;
        const bool all =
            std::all_of(instruction.modifiers.begin(), instruction.modifiers.end(),
                        [&](const std::string& modifier) { return handled(instruction, row.modifier, modifier); });
        return all ? row.execute : nullptr;
    }
    return nullptr;
}

}  // namespace gputomo::sim
