// Comparisons, tests of numbers and addresses, and selection of one of two values.
#include "sim/exec/meaning.hpp"

#include <cmath>
#include <cstdint>
#include <type_traits>

namespace gputomo::sim {
namespace {

using ptx::Opcode;
using ptx::Type;

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

template <class T, bool (*F)(T)>
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

template <class T>
bool is_finite(T v) {
    return std::isfinite(v);
}
template <class T>
bool is_infinite(T v) {
    return std::isinf(v);
}
template <class T>
bool is_number(T v) {
    return !std::isnan(v);
}
template <class T>
bool is_not_a_number(T v) {
    return std::isnan(v);
}
template <class T>
bool is_normal(T v) {
    return std::isnormal(v);
}
template <class T>
bool is_subnormal(T v) {
    return std::fpclassify(v) == FP_SUBNORMAL;
}

// The arguments are types and names, which take no parentheses.
// NOLINTBEGIN(bugprone-macro-parentheses)
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

#define TESTS(MOD, F) \
    {Opcode::testp, MOD, Type::f32, test<float, F<float>>}, { Opcode::testp, MOD, Type::f64, test<double, F> }

constexpr Meaning kComparisonMeanings[] = {
    ALL_TYPES(setp, setp),
    ALL_TYPES(selp, selp),
    SETS(u32, u32),
    SETS(s32, u32),
    SETS(f32, f32),
    TESTS("finite", is_finite),
    TESTS("infinite", is_infinite),
    TESTS("number", is_number),
    TESTS("notanumber", is_not_a_number),
    TESTS("normal", is_normal),
    TESTS("subnormal", is_subnormal),
};
// NOLINTEND(bugprone-macro-parentheses)

#undef ALL_TYPES
#undef SETS
#undef SETS_OF
#undef TESTS

}  // namespace

std::span<const Meaning> comparison_meanings() { return kComparisonMeanings; }

ExecuteFunction selection_by_sign_of(const ptx::Instruction& instruction) {
    return slct_of(instruction.type, instruction.source_type);
}

ExecuteFunction space_test_of(const ptx::Instruction& instruction) {
    if (instruction.space == ptx::Space::shared) return in_window<kSharedWindow, true>;
    if (instruction.space == ptx::Space::local) return in_window<kLocalWindow, true>;
    return instruction.space == ptx::Space::global ? in_global : nullptr;
}

}  // namespace gputomo::sim
