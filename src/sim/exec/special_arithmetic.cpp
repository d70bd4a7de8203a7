// Instructions with a shape of their own: carries, saturating integers, dot products, byte permutations, set, slct,
// testp.
#include "sim/exec/lanes.hpp"

#include <algorithm>
#include <limits>
#include <optional>

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

// ---- extended precision (PTX ISA 9.7.2) ----------------------------------------------------------------------------
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

// ---- bytes and bits ------------------------------------------------------------------------------------------------

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

/// prmt's named modes: byte i of the result is byte pick(selector, i) of {b, a} (PTX ISA, prmt).
using Pick = std::uint32_t (*)(std::uint32_t selector, std::uint32_t i);
template <Pick pick>
void permute(const Operation& op, LaneValues* r, std::uint32_t mask) {
    for_lanes(mask, [&](int l) {
        const std::uint64_t both =
            read<std::uint32_t>(op, r, 0, l) | (std::uint64_t{read<std::uint32_t>(op, r, 1, l)} << 32);
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

/// lop3 with a predicate: source 3 is the predicate to combine with, Operation::mode the truth table.
template <Combine how>
void lop3_predicate(const Operation& op, LaneValues* r, std::uint32_t mask) {
    for_lanes(mask, [&](int l) {
        const auto a = read<std::uint32_t>(op, r, 0, l), b = read<std::uint32_t>(op, r, 1, l),
                   c = read<std::uint32_t>(op, r, 2, l);
        std::uint32_t out = 0;
        for (std::uint32_t row = 0; row < 8; ++row)
            if (((op.mode >> row) & 1) != 0)
                out |= ((row & 4) != 0 ? a : ~a) & ((row & 2) != 0 ? b : ~b) & ((row & 1) != 0 ? c : ~c);
        const bool other = read<bool>(op, r, 3, l), test = out != 0;
        const bool result = how == Combine::and_ ? test && other : how == Combine::or_ ? test || other : test != other;
        r[op.destination][l] = out;
        if (op.destination2 != kNoSlot) r[op.destination2][l] = result ? 1 : 0;
    });
}

// ---- selection -----------------------------------------------------------------------------------------------------

template <class T, class S>
void select_sign(const Operation& op, LaneValues* r, std::uint32_t mask) {
    for_lanes(mask, [&](int l) {
        r[op.destination][l] = bits_of<T>(read<S>(op, r, 2, l) >= S{0} ? read<T>(op, r, 0, l) : read<T>(op, r, 1, l));
    });
}

template <class T>
ExecuteFunction select_sign_by(Type sign) {
    return sign == Type::f32   ? select_sign<T, float>
           : sign == Type::s32 ? select_sign<T, std::int32_t>
                               : ExecuteFunction{};
}
ExecuteFunction slct_of(Type type, Type sign) {
    switch (ptx::Type{type}) {
        case Type::b16:
        case Type::u16:
        case Type::s16: return select_sign_by<std::uint16_t>(sign);
        case Type::b32:
        case Type::u32:
        case Type::s32: return select_sign_by<std::uint32_t>(sign);
        case Type::b64:
        case Type::u64:
        case Type::s64: return select_sign_by<std::uint64_t>(sign);
        case Type::f32: return select_sign_by<float>(sign);
        case Type::f64: return select_sign_by<double>(sign);
        default: return nullptr;
    }
}

template <class T, auto F>
void test(const Operation& op, LaneValues* r, std::uint32_t mask) {
    for_lanes(mask,
              [&](int l) { r[op.destination][l] = F(as<T>(r[op.source[0]][static_cast<std::size_t>(l)])) ? 1 : 0; });
}

template <std::uint64_t window, bool inside>
void in_window(const Operation& op, LaneValues* r, std::uint32_t mask) {
    for_lanes(mask, [&](int l) {
        r[op.destination][l] = (r[op.source[0]][static_cast<std::size_t>(l)] - window < kWindowSize) == inside ? 1 : 0;
    });
}
void in_global(const Operation& op, LaneValues* r, std::uint32_t mask) {
    for_lanes(mask, [&](int l) {
        const std::uint64_t address = r[op.source[0]][static_cast<std::size_t>(l)];
        r[op.destination][l] = address - kSharedWindow >= kWindowSize && address - kLocalWindow >= kWindowSize ? 1 : 0;
    });
}

// ---- moves between a register and a vector of narrower ones --------------------------------------------------------

template <class Part, bool unpack>
void repack(const Operation& op, LaneValues* r, std::uint32_t mask) {
    constexpr std::size_t kBits = 8 * sizeof(Part);
    for_lanes(mask, [&](int l) {
        if constexpr (unpack) {
            const std::uint64_t whole = r[op.source[0]][static_cast<std::size_t>(l)];
            for (std::size_t e = 0; e < op.elements; ++e) r[op.vector[e]][l] = static_cast<Part>(whole >> (kBits * e));
        } else {
            std::uint64_t whole = 0;
            for (std::size_t e = 0; e < op.elements; ++e)
                whole |= static_cast<std::uint64_t>(static_cast<Part>(r[op.source[e]][static_cast<std::size_t>(l)]))
                         << (kBits * e);
            r[op.destination][l] = whole;
        }
    });
}

struct SpecialMeaning {  // NOLINT(clang-analyzer-optin.performance.Padding): rows read in PTX's order
    Opcode opcode;
    std::string_view modifiers;  ///< all of them, in PTX's order
    Type type;
    Type source_type;  ///< none: any
    ExecuteFunction execute;
};

using u8 = std::uint8_t;
using s8 = std::int8_t;
using u16 = std::uint16_t;
using s16 = std::int16_t;
using u32 = std::uint32_t;
using s32 = std::int32_t;
using u64 = std::uint64_t;
using s64 = std::int64_t;

// The arguments are types and names, which take no parentheses.
// NOLINTBEGIN(bugprone-macro-parentheses)
#define CARRIES(OP, MOD, SHAPE)                                                                                 \
    {Opcode::OP, MOD, Type::u32, Type::none, SHAPE<u32>}, {Opcode::OP, MOD, Type::s32, Type::none, SHAPE<u32>}, \
        {Opcode::OP, MOD, Type::u64, Type::none, SHAPE<u64>}, {                                                 \
        Opcode::OP, MOD, Type::s64, Type::none, SHAPE<u64>                                                      \
    }
#define MAD_CARRIES(OP, MOD, HIGH)                                        \
    {Opcode::OP, MOD, Type::u32, Type::none, mad_carry<u32, HIGH>},       \
        {Opcode::OP, MOD, Type::s32, Type::none, mad_carry<s32, HIGH>},   \
        {Opcode::OP, MOD, Type::u64, Type::none, mad_carry<u64, HIGH>}, { \
        Opcode::OP, MOD, Type::s64, Type::none, mad_carry<s64, HIGH>      \
    }
#define TESTS(MOD, F)                                              \
    {Opcode::testp, MOD, Type::f32, Type::none, test<float, F>}, { \
        Opcode::testp, MOD, Type::f64, Type::none, test<double, F> \
    }

constexpr auto kIsFinite = [](auto v) { return std::isfinite(v); };
constexpr auto kIsInfinite = [](auto v) { return std::isinf(v); };
constexpr auto kIsNumber = [](auto v) { return !std::isnan(v); };
constexpr auto kIsNotANumber = [](auto v) { return std::isnan(v); };
constexpr auto kIsNormal = [](auto v) { return std::isnormal(v); };
constexpr auto kIsSubnormal = [](auto v) { return std::fpclassify(v) == FP_SUBNORMAL; };

constexpr SpecialMeaning kSpecialMeanings[] = {
    {Opcode::add, "sat", Type::s32, Type::none, add_saturated},
    {Opcode::sub, "sat", Type::s32, Type::none, sub_saturated},
    {Opcode::mad, "hi.sat", Type::s32, Type::none, mad_high_saturated},
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
    {Opcode::dp4a, "", Type::u32, Type::u32, dot4<u8, u8>},
    {Opcode::dp4a, "", Type::u32, Type::s32, dot4<u8, s8>},
    {Opcode::dp4a, "", Type::s32, Type::u32, dot4<s8, u8>},
    {Opcode::dp4a, "", Type::s32, Type::s32, dot4<s8, s8>},
    {Opcode::dp2a, "lo", Type::u32, Type::u32, dot2<u16, u8, 0>},
    {Opcode::dp2a, "lo", Type::u32, Type::s32, dot2<u16, s8, 0>},
    {Opcode::dp2a, "lo", Type::s32, Type::u32, dot2<s16, u8, 0>},
    {Opcode::dp2a, "lo", Type::s32, Type::s32, dot2<s16, s8, 0>},
    {Opcode::dp2a, "hi", Type::u32, Type::u32, dot2<u16, u8, 2>},
    {Opcode::dp2a, "hi", Type::u32, Type::s32, dot2<u16, s8, 2>},
    {Opcode::dp2a, "hi", Type::s32, Type::u32, dot2<s16, u8, 2>},
    {Opcode::dp2a, "hi", Type::s32, Type::s32, dot2<s16, s8, 2>},
    {Opcode::prmt, "f4e", Type::b32, Type::none, permute<kForward>},
    {Opcode::prmt, "b4e", Type::b32, Type::none, permute<kBackward>},
    {Opcode::prmt, "rc8", Type::b32, Type::none, permute<kReplicate>},
    {Opcode::prmt, "ecl", Type::b32, Type::none, permute<kClampLeft>},
    {Opcode::prmt, "ecr", Type::b32, Type::none, permute<kClampRight>},
    {Opcode::prmt, "rc16", Type::b32, Type::none, permute<kReplicate16>},
    {Opcode::bfind, "shiftamt", Type::u32, Type::none, find_shift<u32>},
    {Opcode::bfind, "shiftamt", Type::s32, Type::none, find_shift<s32>},
    {Opcode::bfind, "shiftamt", Type::u64, Type::none, find_shift<u64>},
    {Opcode::bfind, "shiftamt", Type::s64, Type::none, find_shift<s64>},
    {Opcode::szext, "clamp", Type::u32, Type::none, extend<u32, false>},
    {Opcode::szext, "clamp", Type::s32, Type::none, extend<s32, false>},
    {Opcode::szext, "wrap", Type::u32, Type::none, extend<u32, true>},
    {Opcode::szext, "wrap", Type::s32, Type::none, extend<s32, true>},
    {Opcode::lop3, "and", Type::b32, Type::none, lop3_predicate<Combine::and_>},
    {Opcode::lop3, "or", Type::b32, Type::none, lop3_predicate<Combine::or_>},
    {Opcode::lop3, "xor", Type::b32, Type::none, lop3_predicate<Combine::xor_>},
    TESTS("finite", kIsFinite),
    TESTS("infinite", kIsInfinite),
    TESTS("number", kIsNumber),
    TESTS("notanumber", kIsNotANumber),
    TESTS("normal", kIsNormal),
    TESTS("subnormal", kIsSubnormal),
};
// NOLINTEND(bugprone-macro-parentheses)

#undef CARRIES
#undef MAD_CARRIES
#undef TESTS

std::string joined(const std::vector<std::string>& modifiers) {
    std::string all;
    for (const auto& modifier : modifiers) all += (all.empty() ? "" : ".") + modifier;
    return all;
}

}  // namespace

ExecuteFunction special_arithmetic_of(const ptx::Instruction& instruction) {
    if (instruction.opcode == Opcode::slct) return slct_of(instruction.type, instruction.source_type);
    if (instruction.opcode == Opcode::isspacep) {
        if (instruction.space == ptx::Space::shared) return in_window<kSharedWindow, true>;
        if (instruction.space == ptx::Space::local) return in_window<kLocalWindow, true>;
        return instruction.space == ptx::Space::global ? in_global : nullptr;
    }
    const std::string modifiers = joined(instruction.modifiers);
    for (const auto& row : kSpecialMeanings)
        if (row.opcode == instruction.opcode && row.type == instruction.type && row.modifiers == modifiers &&
            (row.source_type == Type::none || row.source_type == instruction.source_type))
            return row.execute;
    return nullptr;
}

ExecuteFunction packing_of(std::size_t part_bytes, bool unpack) {
    switch (part_bytes) {
        case 1: return unpack ? repack<std::uint8_t, true> : repack<std::uint8_t, false>;
        case 2: return unpack ? repack<std::uint16_t, true> : repack<std::uint16_t, false>;
        case 4: return unpack ? repack<std::uint32_t, true> : repack<std::uint32_t, false>;
        default: return nullptr;
    }
}

}  // namespace gputomo::sim
