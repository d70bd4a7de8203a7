// Pairs of half-precision numbers: f16 and bf16.
#include "sass/form.hpp"
#include "sim/exec/half_format.hpp"
#include "sim/machine_code/rounding.hpp"
#include "sim/machine_code/warp.hpp"

#include <array>
#include <cmath>
#include <cstdint>

namespace gputomo::sim::machine_code {
namespace {

using sass::Modifier;
using sass::Operation;

/// The values of the modifiers that choose halves, such as Modifier::half_a.
enum class Halves : std::uint8_t { both, unused, low, high, high_negated };

std::uint16_t half_at(std::uint32_t word, Halves halves, int part) {
    const bool upper = halves == Halves::both || halves == Halves::high_negated ? part == 1 : halves == Halves::high;
    const auto bits = static_cast<std::uint16_t>(upper ? word >> 16 : word);
    return halves == Halves::high_negated && part == 1 ? bits ^ 0x8000 : bits;
}

template <class F>
double half_value(std::uint16_t bits, bool flush) {
    if (flush && (bits & F::kInfinity) == 0) bits &= 0x8000;
    return value_of<F>(bits);
}

template <class F>
std::uint32_t half_bits(double value, bool flush, bool saturate, bool at_least_zero = false) {
    if (at_least_zero && value <= 0) value = 0;
    if (saturate) value = value > 0 ? std::min(value, 1.0) : 0.0;
    const std::uint16_t bits = rounded<F>(value);
    return flush && (bits & F::kInfinity) == 0 ? bits & 0x8000 : bits;
}

struct Operands {
    std::array<View, 3> views{};
    std::array<Halves, 3> halves{};
    bool flush = false;
    [[nodiscard]] std::uint16_t at(int which, int lane, int part) const {
        const auto i = static_cast<std::size_t>(which);
        return half_at(views[i][lane], halves[i], part);
    }
    /// The sign bits of the first two operands, xored.
    [[nodiscard]] std::uint32_t signs(int lane, int part) const {
        return (half_at(views[0].raw(lane), halves[0], part) ^ half_at(views[1].raw(lane), halves[1], part)) & 0x8000U;
    }
};

Operands operands_of(Warp& warp, const Step& step) {
    const sass::Instruction& instruction = step.instruction;
    Operands operands;
    for (int i = 0; i < step.source_count; ++i) operands.views[static_cast<std::size_t>(i)] = warp.view(step, i);
    const unsigned b = instruction.has(Modifier::signed_half_b) ? instruction.value(Modifier::signed_half_b)
                                                                : instruction.value(Modifier::half_b);
    operands.halves = {static_cast<Halves>(instruction.value(Modifier::half_a)), static_cast<Halves>(b),
                       static_cast<Halves>(instruction.value(Modifier::half_c))};
    operands.flush = instruction.value(Modifier::ftz) != 0 || instruction.value(Modifier::half_denormals) == 2 ||
                     instruction.value(Modifier::denormals) == 2;
    return operands;
}

template <class F, HalfFunction function>
void pair(Warp& warp, const Step& step, std::uint32_t mask) {
    const Operands operands = operands_of(warp, step);
    const bool saturate = step.instruction.value(Modifier::saturate) != 0;
    const bool third = step.source_count > 2, at_least_zero = step.mode != 0;
    std::uint32_t* const out = warp.result(step);
    for_lanes(mask, [&](int l) {
        std::uint32_t word = 0;
        for (int part = 0; part < 2; ++part) {
            const auto value = [&](int i) { return half_value<F>(operands.at(i, l, part), operands.flush); };
            word |= half_bits<F>(function(value(0), value(1), third ? value(2) : 0.0), operands.flush, saturate,
                                 at_least_zero)
                    << (16 * part);
        }
        out[l] = word;
    });
}

/// HADD2.F32: the sum of two halves in single precision, which widens a half where the other one is zero.
void add_wide(Warp& warp, const Step& step, std::uint32_t mask) {
    const Operands operands = operands_of(warp, step);
    const bool saturate = step.instruction.value(Modifier::saturate) != 0;
    std::uint32_t* const out = warp.result(step);
    for_lanes(mask, [&](int l) {
        const auto a = static_cast<float>(half_value<F16>(operands.at(0, l, 0), operands.flush));
        const auto b = static_cast<float>(half_value<F16>(operands.at(1, l, 0), operands.flush));
        out[l] = result_bits(a + b, operands.flush, saturate);
    });
}

template <class F>
void minmax_pair(Warp& warp, const Step& step, std::uint32_t mask) {
    const Operands operands = operands_of(warp, step);
    const std::uint32_t smaller = warp.holds(step, 0);
    const bool keeps_nan = step.instruction.value(Modifier::nan) != 0;
    const bool xors_signs = step.instruction.value(Modifier::xorsign) != 0;
    std::uint32_t* const out = warp.result(step);
    for_lanes(mask, [&](int l) {
        const bool min = ((smaller >> l) & 1) != 0;
        std::uint32_t word = 0;
        for (int part = 0; part < 2; ++part) {
            const double a = half_value<F>(operands.at(0, l, part), operands.flush);
            const double b = half_value<F>(operands.at(1, l, part), operands.flush);
            const bool less = a < b || (a == b && std::signbit(a) && !std::signbit(b));
            double value = less == min ? a : b;
            if (std::isnan(a)) value = keeps_nan ? a : b;
            if (std::isnan(b)) value = keeps_nan ? b : a;
            std::uint32_t bits = half_bits<F>(value, operands.flush, false);
            // The signs are those of the operands before their absolute values are taken, also those of NaNs.
            if (xors_signs && !std::isnan(value)) bits |= operands.signs(l, part);
            word |= bits << (16 * part);
        }
        out[l] = word;
    });
}

/// Lanes for which the comparison holds, for each half.
template <class F>
std::array<std::uint32_t, 2> comparison(Warp& warp, const Step& step, std::uint32_t mask) {
    const Operands operands = operands_of(warp, step);
    const unsigned code = step.instruction.value(Modifier::compare);
    std::array<std::uint32_t, 2> test{};
    for_lanes(mask, [&](int l) {
        for (int part = 0; part < 2; ++part) {
            const double a = half_value<F>(operands.at(0, l, part), operands.flush);
            const double b = half_value<F>(operands.at(1, l, part), operands.flush);
            const unsigned order = a < b ? 1 : a == b ? 2 : a > b ? 4 : 8;
            test[static_cast<std::size_t>(part)] |= static_cast<std::uint32_t>((code & order) != 0) << l;
        }
    });
    return test;
}

/// Combines the comparison with the predicate that the instruction names.
std::uint32_t combined(const Warp& warp, const Step& step, std::uint32_t test) {
    const unsigned how = step.instruction.value(Modifier::combine);
    const std::uint32_t other = warp.holds(step, 0);
    return how == 0 ? test & other : how == 1 ? test | other : test ^ other;
}

/// HSET2: each half becomes 1.0 or a word of ones where the comparison holds, else zero.
template <class F>
void set_pair(Warp& warp, const Step& step, std::uint32_t mask) {
    const auto test = comparison<F>(warp, step, mask);
    const bool as_float = step.instruction.value(Modifier::as_float) != 0;
    const std::uint32_t held = as_float ? rounded<F>(1.0) : 0xFFFF;
    const std::uint32_t low = combined(warp, step, test[0]), high = combined(warp, step, test[1]);
    std::uint32_t* const out = warp.result(step);
    for_lanes(mask, [&](int l) { out[l] = ((low >> l) & 1) * held | ((high >> l) & 1) * held << 16; });
}

template <class F>
void compare_pair(Warp& warp, const Step& step, std::uint32_t mask) {
    const auto test = comparison<F>(warp, step, mask);
    const bool both = step.instruction.value(Modifier::half_and) != 0;
    // With .H_AND the first predicate needs both halves, and the second one is its complement.
    const std::uint32_t first = both ? test[0] & test[1] : test[0];
    const std::uint32_t second = both ? ~(test[0] & test[1]) : test[1];
    warp.set_predicate(step.predicate_out[0], combined(warp, step, first), mask);
    warp.set_predicate(step.predicate_out[1], combined(warp, step, second), mask);
}

}  // namespace

Execute half_execution(Step& step) {
    const sass::Instruction& instruction = step.instruction;
    const auto* const row = instruction.form->row;
    constexpr unsigned kBfloat = 2;
    const bool bfloat = instruction.value(Modifier::bf16_v2) != 0 ||
                        instruction.value(Modifier::half_format) == kBfloat ||
                        instruction.value(Modifier::half_compare_format) == kBfloat;
    const bool plain =
        instruction.value(Modifier::half_denormals) % 2 == 0 && instruction.value(Modifier::denormals) != 1;
    if (!plain) return nullptr;
    if (row->modifiers.find(".RELU") != std::string_view::npos) {
        // It is not known what a predicate does there.
        if (step.predicate_count > 0 && (step.predicate[0].number != sass::kTruePredicate || step.predicate[0].invert))
            return nullptr;
        step.mode = 1;
    }
    switch (instruction.operation) {
        case Operation::HADD2:
            if (row->modifiers.find(".F32") != std::string_view::npos) return add_wide;
            return bfloat ? pair<BF16, half_sum> : pair<F16, half_sum>;
        case Operation::HMUL2: return bfloat ? pair<BF16, half_product> : pair<F16, half_product>;
        case Operation::HFMA2:
            if (instruction.value(Modifier::half_format) == 1) return nullptr;  // accumulates in single precision
            return bfloat ? pair<BF16, half_fused> : pair<F16, half_fused>;
        case Operation::HMNMX2: return bfloat ? minmax_pair<BF16> : minmax_pair<F16>;
        case Operation::HSET2: return bfloat ? set_pair<BF16> : set_pair<F16>;
        case Operation::HSETP2: return bfloat ? compare_pair<BF16> : compare_pair<F16>;
        default: return nullptr;
    }
}

}  // namespace gputomo::sim::machine_code
