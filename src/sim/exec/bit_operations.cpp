// Logic, shifts, counts of bits, bit fields and permutations of bytes.
#include "sim/exec/lookup.hpp"
#include "sim/exec/meaning.hpp"
#include "sim/exec/operand_shapes.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <type_traits>

namespace gputomo::sim {
namespace {

using ptx::Opcode;
using ptx::Type;

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

/// The first source in the low half and the second one in the high half.
std::uint64_t both_sources(const Operation& op, const LaneValues* r, int l) {
    return read<std::uint32_t>(op, r, 0, l) | (std::uint64_t{read<std::uint32_t>(op, r, 1, l)} << 32);
}
/// The `count` low bits are set.
template <class T>
T low_bits(std::uint32_t count) {
    return count >= 8 * sizeof(T) ? static_cast<T>(~T{0}) : static_cast<T>((T{1} << count) - 1);
}
template <class T>
void bfe(const Operation& op, LaneValues* r, std::uint32_t mask) {
    constexpr std::uint32_t kBits = 8 * sizeof(T);
    for_lanes(mask, [&](int l) {
        const auto value = read<T>(op, r, 0, l);
        const std::uint32_t position = read<std::uint32_t>(op, r, 1, l) & 0xFF,
                            length = read<std::uint32_t>(op, r, 2, l) & 0xFF;
        Unsigned<T> out = 0;
        if (length != 0) {
            const auto bits = static_cast<Unsigned<T>>(value);
            const std::uint32_t sign_at = std::min(position + length - 1, kBits - 1);
            const bool sign = std::is_signed_v<T> && ((bits >> sign_at) & 1) != 0;
            const std::uint32_t count = position < kBits ? std::min(length, kBits - position) : 0;
            const Unsigned<T> field = low_bits<Unsigned<T>>(count);
            out = (position < kBits ? (bits >> position) & field : 0) | (sign ? ~field : 0);
        }
        r[op.destination][l] = bits_of<T>(static_cast<T>(out));
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
        if (position < kBits) {
            const T field = static_cast<T>(low_bits<T>(std::min(length, kBits - position)) << position);
            base = static_cast<T>((base & ~field) | ((insert << position) & field));
        }
        r[op.destination][l] = bits_of<T>(base);
    });
}
std::uint32_t looked_up(const Operation& op, const LaneValues* r, int l) {
    return lookup3(op.mode, read<std::uint32_t>(op, r, 0, l), read<std::uint32_t>(op, r, 1, l),
                   read<std::uint32_t>(op, r, 2, l));
}
void lop3(const Operation& op, LaneValues* r, std::uint32_t mask) {
    for_lanes(mask, [&](int l) { r[op.destination][l] = looked_up(op, r, l); });
}
/// lop3 with a predicate: source 3 is the predicate to combine with.
template <Combine how>
void lop3_predicate(const Operation& op, LaneValues* r, std::uint32_t mask) {
    for_lanes(mask, [&](int l) {
        const std::uint32_t out = looked_up(op, r, l);
        const bool other = read<bool>(op, r, 3, l), test = out != 0;
        const bool result = how == Combine::and_ ? test && other : how == Combine::or_ ? test || other : test != other;
        r[op.destination][l] = out;
        if (op.destination2 != kNoSlot) r[op.destination2][l] = result ? 1 : 0;
    });
}
/// mode 0: default; the selector picks four bytes of {b, a}, bit 3 of each nibble replicates the sign.
void prmt(const Operation& op, LaneValues* r, std::uint32_t mask) {
    for_lanes(mask, [&](int l) {
        const std::uint64_t both = both_sources(op, r, l);
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
        const std::uint64_t both = both_sources(op, r, l);
        const auto amount = read<std::uint32_t>(op, r, 2, l);
        const std::uint32_t n = wrap_amount ? amount & 31 : std::min<std::uint32_t>(amount, 32);
        r[op.destination][l] = static_cast<std::uint32_t>(left ? (both << n) >> 32 : both >> n);
    });
}

/// prmt's named modes: byte i of the result is byte pick(selector, i) of {b, a} (PTX ISA, prmt).
using Pick = std::uint32_t (*)(std::uint32_t selector, std::uint32_t i);
template <Pick pick>
void permute(const Operation& op, LaneValues* r, std::uint32_t mask) {
    for_lanes(mask, [&](int l) {
        const std::uint64_t both = both_sources(op, r, l);
        const std::uint32_t selector = read<std::uint32_t>(op, r, 2, l) & 3;
        std::uint32_t out = 0;
        for (std::uint32_t i = 0; i < 4; ++i)
            out |= static_cast<std::uint32_t>((both >> (8 * pick(selector, i))) & 0xFF) << (8 * i);
        r[op.destination][l] = out;
    });
}
constexpr Pick kForward = [](std::uint32_t s, std::uint32_t i) { return s + i; };
constexpr Pick kBackward = [](std::uint32_t s, std::uint32_t i) { return (s - i) & 7; };
constexpr Pick kReplicate = [](std::uint32_t s, std::uint32_t) { return s; };
constexpr Pick kClampLeft = [](std::uint32_t s, std::uint32_t i) { return std::max(s, i); };
constexpr Pick kClampRight = [](std::uint32_t s, std::uint32_t i) { return std::min(s, i); };
constexpr Pick kReplicate16 = [](std::uint32_t s, std::uint32_t i) { return (s & 1) * 2 + (i & 1); };

/// Distance of the leading bit from the top bit.
template <class T>
void find_shift(const Operation& op, LaneValues* r, std::uint32_t mask) {
    using U = std::make_unsigned_t<T>;
    for_lanes(mask, [&](int l) {
        const T value = read<T>(op, r, 0, l);
        const U magnitude = std::is_signed_v<T> && value < 0 ? static_cast<U>(~value) : static_cast<U>(value);
        r[op.destination][l] = magnitude == 0 ? 0xFFFFFFFF : static_cast<std::uint32_t>(std::countl_zero(magnitude));
    });
}

template <class T, bool wraps>
void extend(const Operation& op, LaneValues* r, std::uint32_t mask) {
    for_lanes(mask, [&](int l) {
        const auto asked = read<std::uint32_t>(op, r, 1, l);
        const std::uint32_t bits = wraps ? asked & 31 : std::min(asked, 32U);
        const auto value = read<std::uint32_t>(op, r, 0, l);
        if (bits == 0)
            r[op.destination][l] = 0;
        else
            r[op.destination][l] = static_cast<std::uint32_t>(static_cast<T>(value << (32 - bits)) >> (32 - bits));
    });
}

// The arguments are types and names, which take no parentheses.
// NOLINTBEGIN(bugprone-macro-parentheses)
#define BITS(OP, SHAPE, F)                                                                              \
    {Opcode::OP, "", Type::b16, SHAPE<u16, F<u16>>}, {Opcode::OP, "", Type::b32, SHAPE<u32, F<u32>>}, { \
        Opcode::OP, "", Type::b64, SHAPE<u64, F<u64>>                                                   \
    }

constexpr Meaning kBitMeanings[] = {
    BITS(and_, binary, f_and),
    BITS(or_, binary, f_or),
    BITS(xor_, binary, f_xor),
    BITS(not_, unary, f_not),
    BITS(cnot, unary, f_cnot),
    {Opcode::and_, "", Type::pred, binary<bool, f_and<bool>>},
    {Opcode::or_, "", Type::pred, binary<bool, f_or<bool>>},
    {Opcode::xor_, "", Type::pred, binary<bool, f_xor<bool>>},
    {Opcode::not_, "", Type::pred, unary<bool, f_not<bool>>},
    BITS(shl, shift, f_shl),
    BITS(shr, shift, f_shr),
    {Opcode::shr, "", Type::u16, shift<u16, f_shr<u16>>},
    {Opcode::shr, "", Type::s16, shift<s16, f_shr<s16>>},
    {Opcode::shr, "", Type::u32, shift<u32, f_shr<u32>>},
    {Opcode::shr, "", Type::s32, shift<s32, f_shr<s32>>},
    {Opcode::shr, "", Type::u64, shift<u64, f_shr<u64>>},
    {Opcode::shr, "", Type::s64, shift<s64, f_shr<s64>>},
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
    {Opcode::prmt, "f4e", Type::b32, permute<kForward>},
    {Opcode::prmt, "b4e", Type::b32, permute<kBackward>},
    {Opcode::prmt, "rc8", Type::b32, permute<kReplicate>},
    {Opcode::prmt, "ecl", Type::b32, permute<kClampLeft>},
    {Opcode::prmt, "ecr", Type::b32, permute<kClampRight>},
    {Opcode::prmt, "rc16", Type::b32, permute<kReplicate16>},
    {Opcode::bfind, "shiftamt", Type::u32, find_shift<u32>},
    {Opcode::bfind, "shiftamt", Type::s32, find_shift<s32>},
    {Opcode::bfind, "shiftamt", Type::u64, find_shift<u64>},
    {Opcode::bfind, "shiftamt", Type::s64, find_shift<s64>},
    {Opcode::szext, "clamp", Type::u32, extend<u32, false>},
    {Opcode::szext, "clamp", Type::s32, extend<s32, false>},
    {Opcode::szext, "wrap", Type::u32, extend<u32, true>},
    {Opcode::szext, "wrap", Type::s32, extend<s32, true>},
    {Opcode::lop3, "and", Type::b32, lop3_predicate<Combine::and_>},
    {Opcode::lop3, "or", Type::b32, lop3_predicate<Combine::or_>},
    {Opcode::lop3, "xor", Type::b32, lop3_predicate<Combine::xor_>},
};
// NOLINTEND(bugprone-macro-parentheses)

#undef BITS

}  // namespace

std::span<const Meaning> bit_meanings() { return kBitMeanings; }

}  // namespace gputomo::sim
