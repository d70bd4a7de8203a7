// Integer arithmetic beyond one register: saturation, carries (PTX ISA 9.7.2) and dot products.
#include "sim/exec/meaning.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace gputomo::sim {
namespace {

using ptx::Opcode;
using ptx::Type;

__extension__ typedef unsigned __int128 Unsigned128;

template <class T>
T saturated(std::int64_t wide) {
    return static_cast<T>(std::clamp<std::int64_t>(wide, std::numeric_limits<T>::min(), std::numeric_limits<T>::max()));
}

void add_saturated(const Operation& op, LaneValues* r, std::uint32_t mask) {
    for_lanes(mask, [&](int l) {
        r[op.destination][l] = bits_of(
            saturated<std::int32_t>(std::int64_t{read<std::int32_t>(op, r, 0, l)} + read<std::int32_t>(op, r, 1, l)));
    });
}
void sub_saturated(const Operation& op, LaneValues* r, std::uint32_t mask) {
    for_lanes(mask, [&](int l) {
        r[op.destination][l] = bits_of(
            saturated<std::int32_t>(std::int64_t{read<std::int32_t>(op, r, 0, l)} - read<std::int32_t>(op, r, 1, l)));
    });
}
void mad_high_saturated(const Operation& op, LaneValues* r, std::uint32_t mask) {
    for_lanes(mask, [&](int l) {
        const std::int64_t high =
            (std::int64_t{read<std::int32_t>(op, r, 0, l)} * read<std::int32_t>(op, r, 1, l)) >> 32;
        r[op.destination][l] = bits_of(saturated<std::int32_t>(high + read<std::int32_t>(op, r, 2, l)));
    });
}

// Source 3 is the carry in and destination2 the carry out; either may be missing.

std::uint64_t carry_in(const Operation& op, const LaneValues* r, int l) {
    return op.source[3] == kNoSlot ? 0 : r[op.source[3]][static_cast<std::size_t>(l)];
}
template <class T>
void store_carried(const Operation& op, LaneValues* r, int l, Unsigned128 result) {
    r[op.destination][l] = static_cast<T>(result);
    if (op.destination2 != kNoSlot) r[op.destination2][l] = static_cast<std::uint64_t>(result >> (8 * sizeof(T))) & 1;
}
template <class T>
void add_carry(const Operation& op, LaneValues* r, std::uint32_t mask) {
    for_lanes(mask, [&](int l) {
        store_carried<T>(op, r, l, Unsigned128{read<T>(op, r, 0, l)} + read<T>(op, r, 1, l) + carry_in(op, r, l));
    });
}
/// The carry is a borrow: subc computes a - (b + CC.CF).
template <class T>
void sub_carry(const Operation& op, LaneValues* r, std::uint32_t mask) {
    for_lanes(mask, [&](int l) {
        store_carried<T>(op, r, l, Unsigned128{read<T>(op, r, 0, l)} - read<T>(op, r, 1, l) - carry_in(op, r, l));
    });
}
/// T itself, signed or not, so that the high half of a signed product is signed.
template <class T, bool high>
void mad_carry(const Operation& op, LaneValues* r, std::uint32_t mask) {
    using U = std::make_unsigned_t<T>;
    __extension__ typedef std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128> Wide;
    for_lanes(mask, [&](int l) {
        const Wide product = static_cast<Wide>(read<T>(op, r, 0, l)) * static_cast<Wide>(read<T>(op, r, 1, l));
        const U part = static_cast<U>(high ? product >> (8 * sizeof(T)) : product);
        store_carried<U>(op, r, l, Unsigned128{part} + read<U>(op, r, 2, l) + carry_in(op, r, l));
    });
}

template <class A, class B>
void dot4(const Operation& op, LaneValues* r, std::uint32_t mask) {
    for_lanes(mask, [&](int l) {
        const auto a = read<std::uint32_t>(op, r, 0, l), b = read<std::uint32_t>(op, r, 1, l);
        std::int64_t sum = read<std::int32_t>(op, r, 2, l);
        for (int i = 0; i < 32; i += 8)
            sum += static_cast<std::int64_t>(static_cast<A>(a >> i)) * static_cast<B>(b >> i);
        r[op.destination][l] = static_cast<std::uint32_t>(sum);
    });
}
template <class A, class B, int first>
void dot2(const Operation& op, LaneValues* r, std::uint32_t mask) {
    for_lanes(mask, [&](int l) {
        const auto a = read<std::uint32_t>(op, r, 0, l), b = read<std::uint32_t>(op, r, 1, l);
        std::int64_t sum = read<std::int32_t>(op, r, 2, l);
        for (int i = 0; i < 2; ++i)
            sum += static_cast<std::int64_t>(static_cast<A>(a >> (16 * i))) * static_cast<B>(b >> (8 * (first + i)));
        r[op.destination][l] = static_cast<std::uint32_t>(sum);
    });
}

// The arguments are types and names, which take no parentheses.
// NOLINTBEGIN(bugprone-macro-parentheses)
#define CARRIES(OP, MOD, SHAPE)                                                         \
    {Opcode::OP, MOD, Type::u32, SHAPE<u32>}, {Opcode::OP, MOD, Type::s32, SHAPE<u32>}, \
        {Opcode::OP, MOD, Type::u64, SHAPE<u64>}, {                                     \
        Opcode::OP, MOD, Type::s64, SHAPE<u64>                                          \
    }

#define MAD_CARRIES(OP, MOD, HIGH)                                                                          \
    {Opcode::OP, MOD, Type::u32, mad_carry<u32, HIGH>}, {Opcode::OP, MOD, Type::s32, mad_carry<s32, HIGH>}, \
        {Opcode::OP, MOD, Type::u64, mad_carry<u64, HIGH>}, {                                               \
        Opcode::OP, MOD, Type::s64, mad_carry<s64, HIGH>                                                    \
    }

constexpr Meaning kExtendedMeanings[] = {
    {Opcode::add, "sat", Type::s32, add_saturated},
    {Opcode::sub, "sat", Type::s32, sub_saturated},
    {Opcode::mad, "hi.sat", Type::s32, mad_high_saturated},
    CARRIES(add, "cc", add_carry),
    CARRIES(addc, "", add_carry),
    CARRIES(addc, "cc", add_carry),
    CARRIES(sub, "cc", sub_carry),
    CARRIES(subc, "", sub_carry),
    CARRIES(subc, "cc", sub_carry),
    MAD_CARRIES(mad, "lo.cc", false),
    MAD_CARRIES(mad, "hi.cc", true),
    MAD_CARRIES(madc, "lo", false),
    MAD_CARRIES(madc, "hi", true),
    MAD_CARRIES(madc, "lo.cc", false),
    MAD_CARRIES(madc, "hi.cc", true),
    {Opcode::dp4a, "", Type::u32, dot4<u8, u8>, Type::u32},
    {Opcode::dp4a, "", Type::u32, dot4<u8, s8>, Type::s32},
    {Opcode::dp4a, "", Type::s32, dot4<s8, u8>, Type::u32},
    {Opcode::dp4a, "", Type::s32, dot4<s8, s8>, Type::s32},
    {Opcode::dp2a, "lo", Type::u32, dot2<u16, u8, 0>, Type::u32},
    {Opcode::dp2a, "lo", Type::u32, dot2<u16, s8, 0>, Type::s32},
    {Opcode::dp2a, "lo", Type::s32, dot2<s16, u8, 0>, Type::u32},
    {Opcode::dp2a, "lo", Type::s32, dot2<s16, s8, 0>, Type::s32},
    {Opcode::dp2a, "hi", Type::u32, dot2<u16, u8, 2>, Type::u32},
    {Opcode::dp2a, "hi", Type::u32, dot2<u16, s8, 2>, Type::s32},
    {Opcode::dp2a, "hi", Type::s32, dot2<s16, u8, 2>, Type::u32},
    {Opcode::dp2a, "hi", Type::s32, dot2<s16, s8, 2>, Type::s32},
};
// NOLINTEND(bugprone-macro-parentheses)

#undef CARRIES
#undef MAD_CARRIES

}  // namespace

std::span<const Meaning> extended_integer_meanings() { return kExtendedMeanings; }

}  // namespace gputomo::sim
