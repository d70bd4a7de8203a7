// Half precision: f16 and bf16 arithmetic, alone and in pairs (PTX ISA 9.7.4), and their conversions.
#include "sim/exec/half_format.hpp"
#include "sim/exec/lanes.hpp"

#include <algorithm>

namespace gputomo::sim {
namespace {

using ptx::Opcode;
using ptx::Type;

double subtract(double a, double b, double /*c*/) { return odd_sum(a, -b); }
double smaller(double a, double b, double /*c*/) { return std::fmin(a, b); }
double larger(double a, double b, double /*c*/) { return std::fmax(a, b); }
double magnitude(double a, double /*b*/, double /*c*/) { return std::fabs(a); }
double negative(double a, double /*b*/, double /*c*/) { return -a; }
double power_of_two(double a, double /*b*/, double /*c*/) { return std::exp2(a); }
double hyperbolic_tangent(double a, double /*b*/, double /*c*/) { return std::tanh(a); }

template <class F>
std::uint16_t finished_half(const Operation& op, double value) {
    if (op.saturate) value = value > 0 ? std::min(value, 1.0) : 0.0;
    const std::uint16_t bits = rounded<F>(value);
    const bool subnormal = (bits & F::kInfinity) == 0;
    return op.flush && subnormal ? static_cast<std::uint16_t>(bits & 0x8000) : bits;
}

template <class F>
double operand(const Operation& op, std::uint16_t bits) {
    if (op.flush && (bits & F::kInfinity) == 0) bits &= 0x8000;
    return value_of<F>(bits);
}

/// One value, or a pair of values in 32 bits.
template <class F, HalfFunction function, int parts>
void half(const Operation& op, LaneValues* r, std::uint32_t mask) {
    for_lanes(mask, [&](int l) {
        std::uint64_t result = 0;
        for (int part = 0; part < parts; ++part) {
            std::array<double, 3> values{};
            for (std::size_t i = 0; i < values.size(); ++i)
                if (op.source[i] != kNoSlot)
                    values[i] = operand<F>(
                        op, static_cast<std::uint16_t>(r[op.source[i]][static_cast<std::size_t>(l)] >> (16 * part)));
            result |= static_cast<std::uint64_t>(finished_half<F>(op, function(values[0], values[1], values[2])))
                      << (16 * part);
        }
        r[op.destination][l] = result;
    });
}

template <class F, class From>
void narrow(const Operation& op, LaneValues* r, std::uint32_t mask) {
    for_lanes(mask, [&](int l) {
        r[op.destination][l] = finished_half<F>(op, static_cast<double>(read<From>(op, r, 0, l)));
    });
}
template <class F, class To>
void widen(const Operation& op, LaneValues* r, std::uint32_t mask) {
    for_lanes(mask, [&](int l) {
        const auto bits = static_cast<std::uint16_t>(r[op.source[0]][static_cast<std::size_t>(l)]);
        r[op.destination][l] = bits_of<To>(finished(op, static_cast<To>(operand<F>(op, bits))));
    });
}

struct HalfMeaning {
    Opcode opcode;
    std::array<ExecuteFunction, 4> execute;  ///< f16, f16x2, bf16, bf16x2
};

#define ROW(OP, F)                                                                           \
    {                                                                                        \
        Opcode::OP, { half<F16, F, 1>, half<F16, F, 2>, half<BF16, F, 1>, half<BF16, F, 2> } \
    }
constexpr HalfMeaning kHalfMeanings[] = {
    ROW(add, half_sum),     ROW(sub, subtract),
    ROW(mul, half_product), ROW(fma, half_fused),
    ROW(min, smaller),      ROW(max, larger),
    ROW(abs, magnitude),    ROW(neg, negative),
    ROW(ex2, power_of_two), ROW(tanh, hyperbolic_tangent),
};
#undef ROW

/// Modifiers that change results, such as .NaN of min and max or .relu, cannot be simulated.
constexpr std::string_view kHandled[] = {"rn", "ftz", "sat", "approx"};

}  // namespace

ExecuteFunction half_meaning_of(const ptx::Instruction& instruction) {
    constexpr Type kTypes[] = {Type::f16, Type::f16x2, Type::bf16, Type::bf16x2};
    const auto* const type = std::ranges::find(kTypes, instruction.type);
    if (type == std::end(kTypes)) return nullptr;
    for (const auto& modifier : instruction.modifiers)
        if (std::ranges::find(kHandled, modifier) == std::end(kHandled)) return nullptr;
    for (const auto& row : kHalfMeanings)
        if (row.opcode == instruction.opcode) return row.execute[static_cast<std::size_t>(type - std::begin(kTypes))];
    return nullptr;
}

ExecuteFunction half_conversion_of(Type to, Type from) {
    if (to == Type::f16 && from == Type::f32) return narrow<F16, float>;
    if (to == Type::f16 && from == Type::f64) return narrow<F16, double>;
    if (to == Type::bf16 && from == Type::f32) return narrow<BF16, float>;
    if (to == Type::f32 && from == Type::f16) return widen<F16, float>;
    if (to == Type::f64 && from == Type::f16) return widen<F16, double>;
    if (to == Type::f32 && from == Type::bf16) return widen<BF16, float>;
    return nullptr;
}

}  // namespace gputomo::sim
