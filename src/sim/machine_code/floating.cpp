// Single and double precision: arithmetic, comparisons, and the approximations of the multi-function unit (MUFU).
#include "sass/form.hpp"
#include "sim/exec/half_format.hpp"
#include "sim/machine_code/rounding.hpp"
#include "sim/machine_code/warp.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <numbers>

namespace gputomo::sim::machine_code {
namespace {

using sass::Modifier;
using sass::Operation;

/// Values of Modifier::denormals. FMZ flushes like FTZ, and makes a product with a zero zero, whatever the other
/// factor.
constexpr unsigned kMultiplyZero = 1, kFlushBoth = 2;

bool flushes(const sass::Instruction& instruction) {
    const unsigned denormals = instruction.value(Modifier::denormals);
    return instruction.value(Modifier::ftz) != 0 || denormals == kFlushBoth || denormals == kMultiplyZero;
}

constexpr auto kSum = [](auto a, auto b, auto) { return a + b; };
constexpr auto kProduct = [](auto a, auto b, auto) { return a * b; };
constexpr auto kFused = [](auto a, auto b, auto c) { return std::fma(a, b, c); };

template <auto function, int operands>
void single(Warp& warp, const Step& step, std::uint32_t mask) {
    const bool flush = flushes(step.instruction), saturate = step.instruction.value(Modifier::saturate) != 0;
    const Rounding rounding = rounding_of(step.instruction.value(Modifier::rounding));
    const View a = warp.view(step, 0), b = warp.view(step, 1), c = operands > 2 ? warp.view(step, 2) : b;
    std::uint32_t* const out = warp.result(step);
    for_lanes(mask, [&](int l) {
        const float value =
            rounded_result(rounding, function, float_of(a[l], flush), float_of(b[l], flush), float_of(c[l], flush));
        out[l] = result_bits(value, flush, saturate);
    });
}

/// What an instruction's scale multiplies the product by: .D8, .D4, .D2, none, .M2, .M4, .M8.
double scale_of(const sass::Instruction& instruction) {
    constexpr int kNoScale = 4;
    if (!instruction.has(Modifier::scale)) return 1;
    return std::ldexp(1.0, static_cast<int>(instruction.value(Modifier::scale)) - kNoScale);
}

/// FMUL with a scale or with FMZ. The product of two floats is exact in double precision, and so is its scale: the
/// result is rounded once, as an H200 does.
void scaled_product(Warp& warp, const Step& step, std::uint32_t mask) {
    const bool flush = flushes(step.instruction), saturate = step.instruction.value(Modifier::saturate) != 0;
    const bool zero_wins = step.instruction.value(Modifier::denormals) == kMultiplyZero;
    const Rounding rounding = rounding_of(step.instruction.value(Modifier::rounding));
    const double scale = scale_of(step.instruction);
    const View a = warp.view(step, 0), b = warp.view(step, 1);
    std::uint32_t* const out = warp.result(step);
    for_lanes(mask, [&](int l) {
        const float x = float_of(a[l], flush), y = float_of(b[l], flush);
        const double product = zero_wins && (x == 0 || y == 0) ? 0.0 : double{x} * double{y} * scale;
        out[l] = result_bits(narrowed(rounding, product), flush, saturate);
    });
}

/// FFMA.FMZ
void fused_with_zero(Warp& warp, const Step& step, std::uint32_t mask) {
    const bool saturate = step.instruction.value(Modifier::saturate) != 0;
    const Rounding rounding = rounding_of(step.instruction.value(Modifier::rounding));
    const View a = warp.view(step, 0), b = warp.view(step, 1), c = warp.view(step, 2);
    std::uint32_t* const out = warp.result(step);
    for_lanes(mask, [&](int l) {
        const float x = float_of(a[l], true), y = float_of(b[l], true), z = float_of(c[l], true);
        const bool zero = x == 0 || y == 0;
        const float value = rounded_result(
            rounding, [](auto p, auto q, auto r) { return std::fma(p, q, r); }, zero ? 0.0F : x, zero ? 0.0F : y, z);
        out[l] = result_bits(value, true, saturate);
    });
}

using LaneFloats = std::array<float, kWarpSize>;

/// All lanes of a value, as one array that the compiler can use vector instructions on.
LaneFloats floats_of(const View& view, bool flush) {
    std::array<std::uint32_t, kWarpSize> bits{};
    if (view.step == 0)
        bits.fill(view[0]);
    else
        for (std::size_t i = 0; i < bits.size(); ++i) bits[i] = (view.bits[i] & view.keep) ^ view.flip;
    if (flush)
        for (auto& word : bits) word = is_subnormal(word) ? word & 0x80000000 : word;
    return std::bit_cast<LaneFloats>(bits);
}

void sums(const LaneFloats& a, const LaneFloats& b, const LaneFloats&, LaneFloats& out) {
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = a[i] + b[i];
}

void products(const LaneFloats& a, const LaneFloats& b, const LaneFloats&, LaneFloats& out) {
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = a[i] * b[i];
}

#if defined(__x86_64__)
/// For processors with fused multiply-add, which the build does not ask for.
__attribute__((target("fma,avx2"))) void fused_by_processor(const LaneFloats& a, const LaneFloats& b,
                                                            const LaneFloats& c, LaneFloats& out) {
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = __builtin_fmaf(a[i], b[i], c[i]);
}
#endif

void fused(const LaneFloats& a, const LaneFloats& b, const LaneFloats& c, LaneFloats& out) {
#if defined(__x86_64__)
    static const bool by_processor = __builtin_cpu_supports("fma") != 0 && __builtin_cpu_supports("avx2") != 0;
    if (by_processor) return fused_by_processor(a, b, c, out);
#endif
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = std::fma(a[i], b[i], c[i]);
}

/// Does what single() does for all lanes together, where the result is rounded to nearest and not saturated.
template <auto function, int operands, bool flush>
void all_lanes(Warp& warp, const Step& step, std::uint32_t mask) {
    const LaneFloats a = floats_of(warp.view(step, 0), flush), b = floats_of(warp.view(step, 1), flush);
    const LaneFloats c = operands > 2 ? floats_of(warp.view(step, 2), flush) : b;
    LaneFloats values;
    function(a, b, c, values);
    auto bits = std::bit_cast<std::array<std::uint32_t, kWarpSize>>(values);
    constexpr std::uint32_t kMagnitude = 0x7FFFFFFF, kInfinite = 0x7F800000;
    for (auto& word : bits) word = (word & kMagnitude) > kInfinite ? kNaN : word;
    if (flush)
        for (auto& word : bits) word = is_subnormal(word) ? word & 0x80000000 : word;
    std::uint32_t* const out = warp.result(step);
    if (mask == kAllLanes)
        std::memcpy(out, bits.data(), sizeof bits);
    else
        for_lanes(mask, [&](int l) { out[l] = bits[static_cast<std::size_t>(l)]; });
}

/// The function for an instruction that works on floats.
template <auto each, auto together, int operands>
Execute for_floats(const sass::Instruction& instruction) {
    const bool plain =
        !is_directed(rounding_of(instruction.value(Modifier::rounding))) && instruction.value(Modifier::saturate) == 0;
    if (!plain) return single<each, operands>;
    return flushes(instruction) ? all_lanes<together, operands, true> : all_lanes<together, operands, false>;
}

void store(std::uint32_t* low, std::uint32_t* high, int lane, std::uint64_t bits) {
    low[lane] = static_cast<std::uint32_t>(bits);
    high[lane] = static_cast<std::uint32_t>(bits >> 32);
}

/// The bit of a double that makes a NaN quiet.
constexpr std::uint64_t kQuietNaN = 0x0008000000000000;

template <auto function, int operands>
void twice(Warp& warp, const Step& step, std::uint32_t mask) {
    const Rounding rounding = rounding_of(step.instruction.value(Modifier::rounding));
    const WideView a = warp.wide(step, 0), b = warp.wide(step, 1), c = operands > 2 ? warp.wide(step, 2) : b;
    std::uint32_t *const low = warp.result(step), *const high = warp.result(step, 1);
    for_lanes(mask, [&](int l) {
        const double value = rounded_result(rounding, function, std::bit_cast<double>(a[l]),
                                            std::bit_cast<double>(b[l]), std::bit_cast<double>(c[l]));
        std::uint64_t bits = std::bit_cast<std::uint64_t>(value);
        // An H200 returns the second operand where it is a NaN. The host takes either, as its compiler orders them.
        if (std::isnan(value))
            for (const std::uint64_t operand : {std::uint64_t{c[l]}, std::uint64_t{a[l]}, std::uint64_t{b[l]}})
                if (std::isnan(std::bit_cast<double>(operand))) bits = operand | kQuietNaN;
        store(low, high, l, bits);
    });
}

template <class T>
bool compared(unsigned code, T a, T b) {
    const unsigned order = a < b ? 1 : a == b ? 2 : a > b ? 4 : 8;
    return (code & order) != 0;
}

void set_compared(Warp& warp, const Step& step, std::uint32_t test, std::uint32_t mask) {
    const std::uint32_t other = warp.holds(step, 0);
    const unsigned how = step.instruction.value(Modifier::combine);
    const auto combined = [&](std::uint32_t t) { return how == 0 ? t & other : how == 1 ? t | other : t ^ other; };
    warp.set_predicate(step.predicate_out[0], combined(test), mask);
    warp.set_predicate(step.predicate_out[1], combined(~test), mask);
}

std::uint32_t compared_lanes(Warp& warp, const Step& step, std::uint32_t mask) {
    const unsigned code = step.instruction.value(Modifier::compare);
    const bool flush = step.instruction.value(Modifier::ftz) != 0;
    const View a = warp.view(step, 0), b = warp.view(step, 1);
    std::uint32_t test = 0;
    for_lanes(mask, [&](int l) {
        test |= static_cast<std::uint32_t>(compared(code, float_of(a[l], flush), float_of(b[l], flush))) << l;
    });
    return test;
}

void fsetp(Warp& warp, const Step& step, std::uint32_t mask) {
    set_compared(warp, step, compared_lanes(warp, step, mask), mask);
}

void fset(Warp& warp, const Step& step, std::uint32_t mask) {
    const std::uint32_t test = compared_lanes(warp, step, mask), other = warp.holds(step, 0);
    const unsigned how = step.instruction.value(Modifier::combine);
    const std::uint32_t value = how == 0 ? test & other : how == 1 ? test | other : test ^ other;
    std::uint32_t* const out = warp.result(step);
    for_lanes(mask, [&](int l) { out[l] = ((value >> l) & 1) != 0 ? std::bit_cast<std::uint32_t>(1.0F) : 0; });
}

void fsel(Warp& warp, const Step& step, std::uint32_t mask) {
    const bool flush = step.instruction.value(Modifier::ftz) != 0;
    const View a = warp.view(step, 0), b = warp.view(step, 1);
    const std::uint32_t first = warp.holds(step, 0);
    std::uint32_t* const out = warp.result(step);
    for_lanes(mask, [&](int l) {
        const std::uint32_t bits = ((first >> l) & 1) != 0 ? a[l] : b[l];
        out[l] = flush && is_subnormal(bits) ? bits & 0x80000000 : bits;
    });
}

/// Negative zero counts as less than positive zero.
template <class T>
bool less(T a, T b) {
    return a < b || (a == b && std::signbit(a) && !std::signbit(b));
}

void fmnmx(Warp& warp, const Step& step, std::uint32_t mask) {
    const bool flush = step.instruction.value(Modifier::ftz) != 0, keeps_nan = step.instruction.value(Modifier::nan);
    const bool xors_signs = step.instruction.value(Modifier::xorsign) != 0;
    const View a = warp.view(step, 0), b = warp.view(step, 1);
    const std::uint32_t smaller = warp.holds(step, 0);
    std::uint32_t* const out = warp.result(step);
    for_lanes(mask, [&](int l) {
        const float x = float_of(a[l], flush), y = float_of(b[l], flush);
        float value = less(x, y) == (((smaller >> l) & 1) != 0) ? x : y;
        if (std::isnan(x)) value = keeps_nan ? x : y;
        if (std::isnan(y)) value = keeps_nan ? y : x;
        const std::uint32_t bits = result_bits(value, false, false);
        // The signs are those of the operands before their absolute values are taken, also those of NaNs.
        out[l] = !xors_signs || std::isnan(value) ? bits : bits | ((a.raw(l) ^ b.raw(l)) & 0x80000000);
    });
}

/// DSETP. With MIN or MAX the first predicate holds where the first operand is the result, and the second one where
/// both operands are NaN.
void dsetp(Warp& warp, const Step& step, std::uint32_t mask) {
    constexpr unsigned kMin = 0, kMax = 15;
    const unsigned code = step.instruction.value(Modifier::compare_or_minmax);
    const WideView a = warp.wide(step, 0), b = warp.wide(step, 1);
    std::uint32_t test = 0, neither = 0;
    for_lanes(mask, [&](int l) {
        const auto x = std::bit_cast<double>(a[l]), y = std::bit_cast<double>(b[l]);
        bool result = false;
        if (code == kMin || code == kMax)
            result = std::isnan(y) ? !std::isnan(x) : code == kMin ? less(x, y) : less(y, x);
        else
            result = compared(code, x, y);
        test |= static_cast<std::uint32_t>(result) << l;
        neither |= static_cast<std::uint32_t>(std::isnan(x) && std::isnan(y)) << l;
    });
    if (code != kMin && code != kMax) return set_compared(warp, step, test, mask);
    warp.set_predicate(step.predicate_out[0], test, mask);
    warp.set_predicate(step.predicate_out[1], neither, mask);
}

/// Whether a division needs the routine for special values. The fast path computes with the reciprocal of the divisor
/// and with remainders of 24 bits less than the dividend, and all of these have to be normal numbers.
bool needs_routine(float a, float b) {
    if (!std::isnormal(a) || !std::isnormal(b)) return true;
    constexpr int kLargestDivisor = 124, kSmallestDividend = -98, kLargestQuotient = 124;
    const int of_a = std::ilogb(a), of_b = std::ilogb(b), quotient = of_a - of_b;
    return std::abs(of_b) > kLargestDivisor || of_a < kSmallestDividend || std::abs(quotient) > kLargestQuotient;
}

void fchk(Warp& warp, const Step& step, std::uint32_t mask) {
    const View a = warp.view(step, 0), b = warp.view(step, 1);
    std::uint32_t test = 0;
    for_lanes(mask, [&](int l) {
        test |= static_cast<std::uint32_t>(needs_routine(std::bit_cast<float>(a[l]), std::bit_cast<float>(b[l]))) << l;
    });
    warp.set_predicate(step.predicate_out[0], test, mask);
}

/// The values of Modifier::function.
enum class Function : std::uint8_t { cos, sin, ex2, lg2, rcp, rsq, rcp64h, rsq64h, sqrt, tanh };

/// The sine or cosine of x turns. An H200 keeps 25 bits behind the point of x. It cuts the rest off where it needs the
/// sine of what is left of a quarter turn. Where it needs the cosine it takes the next larger number.
double circular(double x, bool is_cosine) {
    constexpr int kBits = 25;
    if (!std::isfinite(x)) return std::numeric_limits<double>::quiet_NaN();
    const double turns = std::fmod(std::fabs(x), 1.0);
    const int quarter = static_cast<int>(4 * turns);
    const bool takes_sine = (quarter % 2 != 0) == is_cosine;
    const double rest = std::ldexp(turns - 0.25 * quarter, kBits);
    const double angle =
        2 * std::numbers::pi * std::ldexp(takes_sine ? std::floor(rest) : std::floor(rest) + 1, -kBits);
    const double value = takes_sine ? std::sin(angle) : std::cos(angle);
    const bool negative = is_cosine ? quarter == 1 || quarter == 2 : (quarter >= 2) != std::signbit(x);
    return negative ? -value : value;
}

/// An H200 returns small arguments of TANH as they are, subnormal ones too.
double hyperbolic_tangent(double x) {
    constexpr double kSmall = 0x1p-8;
    return std::fabs(x) < kSmall ? x : std::tanh(x);
}

/// The function is computed in double precision and rounded once.
double function_value(Function function, double x) {
    switch (function) {
        case Function::cos: return circular(x, true);
        case Function::sin: return circular(x, false);
        case Function::ex2: return std::exp2(x);
        case Function::lg2: return std::log2(x);
        case Function::rcp: return 1 / x;
        case Function::rsq: return 1 / std::sqrt(x);
        case Function::sqrt: return std::sqrt(x);
        default: return hyperbolic_tangent(x);
    }
}

/// The upper word of the reciprocal of a double, or of the reciprocal of its square root. Only the upper word of
/// the double is given.
std::uint32_t upper_of_function(Function function, std::uint32_t upper) {
    constexpr std::uint32_t kExponent = 0x7FF00000;
    if ((upper & kExponent) == 0) return (upper & 0x80000000) | kExponent;
    const auto x = std::bit_cast<double>(std::uint64_t{upper} << 32);
    const double value = function == Function::rcp64h ? 1 / x : 1 / std::sqrt(x);
    if (std::isnan(value)) return kNaN;
    const auto bits = static_cast<std::uint32_t>(std::bit_cast<std::uint64_t>(value) >> 32);
    return (bits & kExponent) == 0 ? bits & 0x80000000 : bits;
}

void mufu(Warp& warp, const Step& step, std::uint32_t mask) {
    const auto function = static_cast<Function>(step.instruction.value(Modifier::function));
    const bool flush = function != Function::tanh;
    const View a = warp.view(step, 0);
    std::uint32_t* const out = warp.result(step);
    for_lanes(mask, [&](int l) {
        if (function == Function::rcp64h || function == Function::rsq64h)
            out[l] = upper_of_function(function, a[l]);
        else
            out[l] = result_bits(static_cast<float>(function_value(function, float_of(a[l], flush))), flush, false);
    });
}

/// MUFU on a half: what the function gives as a float, cut off to the half's format. Only what is too large for it
/// becomes infinite.
template <class F>
void mufu_half(Warp& warp, const Step& step, std::uint32_t mask) {
    const auto function = static_cast<Function>(step.instruction.value(Modifier::narrow_function));
    const unsigned shift = step.instruction.value(Modifier::h1) != 0 ? 16 : 0;
    const bool flush = function == Function::ex2;
    const View a = warp.view(step, 0);
    std::uint32_t* const out = warp.result(step);
    for_lanes(mask, [&](int l) {
        const double x = value_of<F>(static_cast<std::uint16_t>(a[l] >> shift));
        const float wide = float_of(result_bits(static_cast<float>(function_value(function, x)), flush, false), flush);
        const std::uint16_t half = rounded<F>(wide, Rounding::zero);
        const bool overflows = std::fabs(wide) >= std::ldexp(1.0F, F::kBias + 1);
        out[l] = overflows ? (half & 0x8000U) | F::kInfinity : half;
    });
}

/// MUFU on a half: compilers make two of them.
Execute narrow_execution(const sass::Instruction& instruction) {
    const auto function = static_cast<Function>(instruction.value(Modifier::narrow_function));
    if (function != Function::ex2 && function != Function::tanh) return nullptr;
    constexpr unsigned kBfloat = 2;
    return instruction.value(Modifier::function_format) == kBfloat ? mufu_half<BF16> : mufu_half<F16>;
}

}  // namespace

Execute float_execution(Step& step) {
    const sass::Instruction& instruction = step.instruction;
    const bool zero_wins = instruction.value(Modifier::denormals) == kMultiplyZero;
    switch (instruction.operation) {
        case Operation::FADD: return for_floats<kSum, sums, 2>(instruction);
        case Operation::FMUL:
            return zero_wins || scale_of(instruction) != 1 ? scaled_product
                                                           : for_floats<kProduct, products, 2>(instruction);
        case Operation::FFMA: return zero_wins ? fused_with_zero : for_floats<kFused, fused, 3>(instruction);
        case Operation::DADD: return twice<kSum, 2>;
        case Operation::DMUL: return twice<kProduct, 2>;
        case Operation::DFMA: return twice<kFused, 3>;
        case Operation::FSETP: return fsetp;
        case Operation::FSET: return fset;
        case Operation::FSEL: return fsel;
        case Operation::FMNMX: return fmnmx;
        case Operation::DSETP: return dsetp;
        case Operation::FCHK: return fchk;
        case Operation::MUFU: return instruction.has(Modifier::function) ? mufu : narrow_execution(instruction);
        default: return nullptr;
    }
}

}  // namespace gputomo::sim::machine_code
