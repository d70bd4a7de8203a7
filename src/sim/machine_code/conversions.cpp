// Conversions between integers and floating-point numbers.
#include "sass/form.hpp"
#include "sim/exec/half_format.hpp"
#include "sim/machine_code/rounding.hpp"
#include "sim/machine_code/warp.hpp"

#include <cmath>
#include <cstdint>
#include <limits>

namespace gputomo::sim::machine_code {
namespace {

using sass::Modifier;
using sass::Operation;

/// The values of Modifier::integral: to nearest even, down, up, to zero.
double integral(unsigned how, double value) {
    switch (how) {
        case 1: return std::floor(value);
        case 2: return std::ceil(value);
        case 3: return std::trunc(value);
        default: return std::nearbyint(value);
    }
}

template <class T>
std::uint64_t clamped(double value, bool nan_is_zero) {
    using limits = std::numeric_limits<T>;
    if (std::isnan(value)) {
        if (nan_is_zero) return 0;
        return sizeof(T) == 8 ? std::uint64_t{1} << 63 : std::uint64_t{1} << 31;
    }
    if (value <= static_cast<double>(limits::min())) return static_cast<std::uint64_t>(limits::min());
    if (value >= static_cast<double>(limits::max())) return static_cast<std::uint64_t>(limits::max());
    return static_cast<std::uint64_t>(static_cast<T>(value));
}

/// The types of Modifier::to_integer, in the order of its values.
std::uint64_t integer_bits(unsigned type, double value, bool nan_is_zero) {
    switch (type) {
        case 0: return clamped<std::uint8_t>(value, nan_is_zero);
        case 1: return clamped<std::int8_t>(value, nan_is_zero);
        case 2: return clamped<std::uint16_t>(value, nan_is_zero);
        case 3: return clamped<std::int16_t>(value, nan_is_zero);
        case 4: return clamped<std::uint32_t>(value, nan_is_zero);
        case 5: return clamped<std::int32_t>(value, nan_is_zero);
        case 6: return clamped<std::uint64_t>(value, nan_is_zero);
        default: return clamped<std::int64_t>(value, nan_is_zero);
    }
}

/// Formats of small floats, by the values of Modifier::from_small_float and Modifier::to_small_float.
constexpr unsigned kHalf = 1, kSingle = 2, kDouble = 3, kBfloat = 4;

double small_value(unsigned format, std::uint32_t bits, bool flush) {
    if (format == kHalf) return value_of<F16>(static_cast<std::uint16_t>(bits));
    if (format == kBfloat) return value_of<BF16>(static_cast<std::uint16_t>(bits));
    return float_of(bits, flush);
}

void write(std::uint32_t* low, std::uint32_t* high, int lane, std::uint64_t bits) {
    low[lane] = static_cast<std::uint32_t>(bits);
    if (high != nullptr) high[lane] = static_cast<std::uint32_t>(bits >> 32);
}

void f2i(Warp& warp, const Step& step, std::uint32_t mask) {
    const sass::Instruction& instruction = step.instruction;
    const bool from_double = !instruction.has(Modifier::from_small_float);
    const unsigned type = instruction.has(Modifier::to_long) ? 6U + instruction.value(Modifier::to_long)
                          : from_double                      ? instruction.value(Modifier::to_integer)
                                                             : instruction.value(Modifier::to_small_integer);
    const unsigned how = instruction.value(Modifier::integral);
    const bool nan_is_zero = instruction.value(Modifier::ntz) != 0, flush = instruction.value(Modifier::ftz) != 0;
    const unsigned format = instruction.value(Modifier::from_small_float);
    const View a = warp.view(step, 0);
    const WideView wide = from_double ? warp.wide(step, 0) : WideView{a, a};
    std::uint32_t *const low = warp.result(step), *const high = type >= 6 ? warp.result(step, 1) : nullptr;
    for_lanes(mask, [&](int l) {
        const double value = from_double ? std::bit_cast<double>(wide[l]) : small_value(format, a[l], flush);
        write(low, high, l, integer_bits(type, integral(how, value), nan_is_zero));
    });
}

/// The nearest float or double, or the next one in the direction of the rounding.
template <class To, class From>
To converted_to(Rounding rounding, From value) {
    if (!is_directed(rounding)) return static_cast<To>(value);
    const RoundingGuard guard(rounding);
    volatile From from = value;
    volatile To to = static_cast<To>(From{from});
    return To{to};
}

template <class From>
void write_float(unsigned format, Rounding rounding, From value, std::uint32_t* low, std::uint32_t* high, int lane) {
    if (format == kDouble)
        write(low, high, lane, std::bit_cast<std::uint64_t>(converted_to<double>(rounding, value)));
    else if (format == kHalf)
        low[lane] = rounded<F16>(static_cast<double>(value));
    else if (format == kBfloat)
        low[lane] = rounded<BF16>(static_cast<double>(value));
    else
        low[lane] = result_bits(converted_to<float>(rounding, value), false, false);
}

/// A part of a register as an integer: the byte or half that the operand names.
std::int64_t integer_part(std::uint32_t word, unsigned bits, unsigned which, bool is_signed) {
    const std::uint32_t part = bits == 32 ? word : word >> (bits * which) & ((1U << bits) - 1);
    const auto shift = 64 - bits;
    const std::uint64_t moved = std::uint64_t{part} << shift;
    return is_signed ? static_cast<std::int64_t>(moved) >> shift : static_cast<std::int64_t>(moved >> shift);
}

void i2f(Warp& warp, const Step& step, std::uint32_t mask) {
    const sass::Instruction& instruction = step.instruction;
    const bool from_long = instruction.has(Modifier::from_long);
    const unsigned bits = instruction.has(Modifier::from_byte) ? 8 : instruction.has(Modifier::from_short) ? 16 : 32;
    const unsigned which = instruction.value(bits == 8 ? Modifier::byte : Modifier::h1);
    const bool is_signed = instruction.value(bits == 8                                   ? Modifier::from_byte
                                             : bits == 16                                ? Modifier::from_short
                                             : instruction.has(Modifier::source_integer) ? Modifier::source_integer
                                                                                         : Modifier::signedness) != 0;
    const bool long_signed = instruction.value(Modifier::from_long) != 0;
    unsigned format = kSingle;
    if (instruction.has(Modifier::to_small_float)) format = instruction.value(Modifier::to_small_float);
    if (instruction.has(Modifier::to_float_or_f32)) format = instruction.value(Modifier::to_float_or_f32);
    if (instruction.form->row->modifiers.find(".F64") != std::string_view::npos) format = kDouble;
    const Rounding rounding = instruction.value(Modifier::zero_rounding) != 0
                                  ? Rounding::zero
                                  : rounding_of(instruction.value(Modifier::rounding));
    const View a = warp.view(step, 0), upper = from_long ? warp.view(step, 0, 1) : a;
    std::uint32_t *const low = warp.result(step), *const high = format == kDouble ? warp.result(step, 1) : nullptr;
    for_lanes(mask, [&](int l) {
        if (!from_long) return write_float(format, rounding, integer_part(a[l], bits, which, is_signed), low, high, l);
        const std::uint64_t value = a[l] | std::uint64_t{upper[l]} << 32;
        if (long_signed)
            write_float(format, rounding, static_cast<std::int64_t>(value), low, high, l);
        else
            write_float(format, rounding, value, low, high, l);
    });
}

/// F2F: the modifiers' texts say which formats, as "F64.F32".
void f2f(Warp& warp, const Step& step, std::uint32_t mask) {
    const sass::Instruction& instruction = step.instruction;
    const bool flush = instruction.value(Modifier::ftz) != 0;
    const Rounding rounding = rounding_of(instruction.value(Modifier::rounding));
    // Both fields have the format of the result in their lower three bits and that of the source in the upper ones.
    const unsigned formats = instruction.has(Modifier::wide_floats) ? instruction.value(Modifier::wide_floats)
                                                                    : instruction.value(Modifier::small_floats);
    const unsigned to = formats & 7, from = formats >> 3;
    const View a = warp.view(step, 0);
    const WideView wide = from == kDouble ? warp.wide(step, 0) : WideView{a, a};
    std::uint32_t *const low = warp.result(step), *const high = to == kDouble ? warp.result(step, 1) : nullptr;
    for_lanes(mask, [&](int l) {
        const double value = from == kDouble ? std::bit_cast<double>(wide[l]) : small_value(from, a[l], flush);
        write_float(to, rounding, value, low, high, l);
        if (flush && to == kSingle && is_subnormal(low[l])) low[l] &= 0x80000000;
    });
}

void frnd(Warp& warp, const Step& step, std::uint32_t mask) {
    const unsigned how = step.instruction.value(Modifier::integral);
    const bool flush = step.instruction.value(Modifier::ftz) != 0;
    const bool twice = step.instruction.form->row->modifiers.find(".F64") != std::string_view::npos;
    const View a = warp.view(step, 0);
    const WideView wide = twice ? warp.wide(step, 0) : WideView{a, a};
    std::uint32_t *const low = warp.result(step), *const high = twice ? warp.result(step, 1) : nullptr;
    for_lanes(mask, [&](int l) {
        if (twice)
            write(low, high, l, std::bit_cast<std::uint64_t>(integral(how, std::bit_cast<double>(wide[l]))));
        else
            low[l] = result_bits(static_cast<float>(integral(how, float_of(a[l], flush))), flush, false);
    });
}

/// F2FP.F16.F32.PACK_AB: the first operand becomes the upper half.
void f2fp(Warp& warp, const Step& step, std::uint32_t mask) {
    const bool bfloat = step.instruction.value(Modifier::packed_format) != 0;
    const View a = warp.view(step, 0), b = warp.view(step, 1);
    std::uint32_t* const out = warp.result(step);
    const auto narrow = [&](std::uint32_t bits) -> std::uint32_t {
        const double value = std::bit_cast<float>(bits);
        return bfloat ? rounded<BF16>(value) : rounded<F16>(value);
    };
    for_lanes(mask, [&](int l) { out[l] = narrow(a[l]) << 16 | narrow(b[l]); });
}

/// F2FP.TF32: a float with ten bits of fraction.
void to_tf32(Warp& warp, const Step& step, std::uint32_t mask) {
    constexpr std::uint32_t kDropped = 0x1FFF, kHalfUnit = 0x0FFF, kInfinityBits = 0x7F800000;
    const View a = warp.view(step, 0);
    const bool truncates = step.instruction.value(Modifier::zero_rounding) != 0;
    const bool at_least_zero = step.instruction.value(Modifier::relu) != 0;
    std::uint32_t* const out = warp.result(step);
    for_lanes(mask, [&](int l) {
        std::uint32_t bits = a[l];
        if ((bits & ~0x80000000U) > kInfinityBits) {
            out[l] = kNaN & ~kDropped;
            return;
        }
        // A carry out of the fraction goes into the exponent; ties go to even.
        const bool finite = (bits & kInfinityBits) != kInfinityBits;
        if (!truncates && finite) bits += kHalfUnit + (bits >> 13 & 1);
        bits &= ~kDropped;
        out[l] = at_least_zero && (bits >> 31) != 0 ? 0 : bits;
    });
}

/// I2I: saturates a signed word to a shorter type.
void i2i(Warp& warp, const Step& step, std::uint32_t mask) {
    const unsigned type = step.instruction.value(Modifier::saturated_integer);
    const View a = warp.view(step, 0);
    std::uint32_t* const out = warp.result(step);
    for_lanes(mask, [&](int l) {
        out[l] = static_cast<std::uint32_t>(integer_bits(type, static_cast<std::int32_t>(a[l]), true));
    });
}

/// Whether a directed rounding to a 16-bit format is asked for, which is not executed.
bool rounds_half(const sass::Instruction& instruction) {
    const bool directed = instruction.value(Modifier::rounding) != 0;
    const unsigned formats = instruction.value(Modifier::wide_floats) | instruction.value(Modifier::small_floats) |
                             instruction.value(Modifier::to_small_float);
    const unsigned to = formats & 7;
    return directed && (to == kHalf || to == kBfloat);
}

}  // namespace

Execute conversion_execution(Step& step) {
    const sass::Instruction& instruction = step.instruction;
    const auto text = instruction.form->row->modifiers;
    if (rounds_half(instruction)) return nullptr;
    switch (instruction.operation) {
        case Operation::F2I: return f2i;
        case Operation::I2F:
        case Operation::I2FP: return i2f;
        case Operation::F2F: return f2f;
        case Operation::FRND: return text.find("16") == std::string_view::npos ? frnd : nullptr;
        case Operation::F2FP: {
            if (text.find(".TF32") != std::string_view::npos) return to_tf32;
            const bool plain = instruction.has(Modifier::packed_format) && instruction.value(Modifier::relu) == 0 &&
                               instruction.value(Modifier::satfinite) == 0 &&
                               instruction.value(Modifier::zero_rounding) == 0;
            return plain ? f2fp : nullptr;
        }
        case Operation::I2I: return i2i;
        default: return nullptr;
    }
}

}  // namespace gputomo::sim::machine_code
