// Floating-point arithmetic that rounds to zero, down or up (.rz, .rm, .rp), by the host's rounding mode.
#include "sim/exec/directed_rounding.hpp"

#include <cfenv>

namespace gputomo::sim {
namespace {

using ptx::Opcode;
using ptx::Type;

/// Operands and result go through volatile objects, so that the compiler cannot move the operation out of the rounding
/// mode.
template <class T, auto F, int operands>
void directed(const Operation& op, LaneValues* r, std::uint32_t mask) {
    const RoundingGuard guard(static_cast<Rounding>(op.rounding));
    for_lanes(mask, [&](int l) {
        volatile T a = read<T>(op, r, 0, l);
        volatile T b = operands > 1 ? read<T>(op, r, 1, l) : T{};
        volatile T c = operands > 2 ? read<T>(op, r, 2, l) : T{};
        volatile T result = F(T{a}, T{b}, T{c});
        r[op.destination][l] = bits_of<T>(finished(op, T{result}));
    });
}

struct DirectedMeaning {
    Opcode opcode;
    ExecuteFunction single;
    ExecuteFunction twice;
};

#define ROW(OP, OPERANDS, ...) \
    { Opcode::OP, directed<float, __VA_ARGS__, OPERANDS>, directed<double, __VA_ARGS__, OPERANDS> }

constexpr DirectedMeaning kDirectedMeanings[] = {
    ROW(add, 2, [](auto a, auto b, auto) { return a + b; }),
    ROW(sub, 2, [](auto a, auto b, auto) { return a - b; }),
    ROW(mul, 2, [](auto a, auto b, auto) { return a * b; }),
    ROW(fma, 3, [](auto a, auto b, auto c) { return std::fma(a, b, c); }),
    ROW(mad, 3, [](auto a, auto b, auto c) { return std::fma(a, b, c); }),
    ROW(div, 2, [](auto a, auto b, auto) { return a / b; }),
    ROW(rcp, 1, [](auto a, auto, auto) { return decltype(a){1} / a; }),
    ROW(sqrt, 1, [](auto a, auto, auto) { return std::sqrt(a); }),
};

#undef ROW

}  // namespace

RoundingGuard::RoundingGuard(Rounding rounding) : before_(std::fegetround()) {
    std::fesetround(rounding == Rounding::zero ? FE_TOWARDZERO : rounding == Rounding::down ? FE_DOWNWARD : FE_UPWARD);
}
RoundingGuard::~RoundingGuard() { std::fesetround(before_); }

ExecuteFunction directed_rounding_of(const ptx::Instruction& instruction) {
    for (const auto& modifier : instruction.modifiers)
        if (modifier != "rz" && modifier != "rm" && modifier != "rp" && modifier != "ftz" && modifier != "sat")
            return nullptr;
    for (const auto& row : kDirectedMeanings) {
        if (row.opcode != instruction.opcode) continue;
        if (instruction.type == Type::f32) return row.single;
        if (instruction.type == Type::f64) return row.twice;
    }
    return nullptr;
}

}  // namespace gputomo::sim
