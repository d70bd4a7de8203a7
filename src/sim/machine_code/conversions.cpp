// Conversions between integers and floating-point numbers.
#include "sass/form.hpp"
#include "sim/exec/half_format.hpp"
#include "sim/exec/powers_of_two.hpp"
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
        low[lane] = rounded<F16>(static_cast<double>(value), rounding);
    else if (format == kBfloat)
        low[lane] = rounded<BF16>(static_cast<double>(value), rounding);
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

/// A NaN keeps its sign and as much of its payload as there is room for, and becomes quiet.
std::uint32_t narrowed_nan(std::uint64_t bits) {
    return static_cast<std::uint32_t>(bits >> 32 & 0x80000000) | 0x7FC00000 |
           static_cast<std::uint32_t>(bits >> 29 & 0x3FFFFF);
}
std::uint64_t widened_nan(std::uint32_t bits) {
    return std::uint64_t{bits & 0x80000000} << 32 | 0x7FF8000000000000 | std::uint64_t{bits & 0x3FFFFF} << 29;
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
    const bool narrow = from == kHalf || from == kBfloat;
    const unsigned shift = narrow && instruction.value(Modifier::h1) != 0 ? 16 : 0;
    const View a = warp.view(step, 0);
    const WideView wide = from == kDouble ? warp.wide(step, 0) : WideView{a, a};
    std::uint32_t *const low = warp.result(step), *const high = to == kDouble ? warp.result(step, 1) : nullptr;
    for_lanes(mask, [&](int l) {
        const double value = from == kDouble ? std::bit_cast<double>(wide[l]) : small_value(from, a[l] >> shift, flush);
        if (std::isnan(value) && from == kDouble && to == kSingle)
            low[l] = narrowed_nan(wide[l]);
        else if (std::isnan(value) && from == kSingle && to == kDouble)
            write(low, high, l, widened_nan(a[l]));
        else
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

/// FRND of halves: an integer of up to 2^11 is a half of either format, and larger ones are integers already.
template <class F>
void frnd_half(Warp& warp, const Step& step, std::uint32_t mask) {
    const unsigned how = step.instruction.value(Modifier::integral);
    const View a = warp.view(step, 0);
    std::uint32_t* const out = warp.result(step);
    for_lanes(mask, [&](int l) { out[l] = rounded<F>(integral(how, value_of<F>(static_cast<std::uint16_t>(a[l])))); });
}

/// What a conversion with .RELU starts from: nothing is less than zero, and a NaN stays one.
double at_least_zero(double value) { return value <= 0 ? 0.0 : value; }

/// F2FP.F16.F32.PACK_AB: the first operand becomes the upper half.
template <class F>
void f2fp(Warp& warp, const Step& step, std::uint32_t mask) {
    const bool relu = step.instruction.value(Modifier::relu) != 0;
    const Rounding rounding = step.instruction.value(Modifier::zero_rounding) != 0 ? Rounding::zero : Rounding::nearest;
    const View a = warp.view(step, 0), b = warp.view(step, 1);
    std::uint32_t* const out = warp.result(step);
    const auto narrow = [&](std::uint32_t bits) -> std::uint32_t {
        const double value = std::bit_cast<float>(bits);
        return rounded<F>(relu ? at_least_zero(value) : value, rounding);
    };
    for_lanes(mask, [&](int l) { out[l] = narrow(a[l]) << 16 | narrow(b[l]); });
}

/// The 8-bit formats of floating-point numbers, by the values of Modifier::byte_float.
struct ByteFormat {
    int fraction;  ///< bits
    int bias;
    std::uint32_t largest;        ///< finite
    std::uint32_t first_special;  ///< infinity, or a NaN where there is none
};
constexpr ByteFormat kE5m2{2, 15, 0x7B, 0x7C}, kE4m3{3, 7, 0x7E, 0x7F};

const ByteFormat& byte_format_of(const sass::Instruction& instruction) {
    return instruction.value(Modifier::byte_float) != 0 ? kE4m3 : kE5m2;
}

/// The nearest byte, ties to even. What is larger than the largest finite number becomes that (.SATFINITE).
std::uint32_t byte_of(const ByteFormat& format, double value) {
    constexpr std::uint32_t kByteNaN = 0x7F;
    if (std::isnan(value)) return kByteNaN;
    const std::uint32_t sign = std::signbit(value) ? 0x80 : 0;
    const double magnitude = std::fabs(value);
    if (magnitude == 0) return sign;
    if (std::isinf(magnitude)) return sign | format.largest;
    const int exponent = std::max(binary_exponent(magnitude), 1 - format.bias);
    const double units = std::nearbyint(times_power_of_two(magnitude, format.fraction - exponent));
    const double bits = units + times_power_of_two(exponent + format.bias - 1, format.fraction);
    return sign | static_cast<std::uint32_t>(std::min(bits, static_cast<double>(format.largest)));
}

double value_of_byte(const ByteFormat& format, std::uint32_t byte) {
    const double sign = (byte & 0x80) != 0 ? -1 : 1;
    const std::uint32_t magnitude = byte & 0x7F;
    if (magnitude >= format.first_special)
        return magnitude == kE5m2.first_special && format.fraction == kE5m2.fraction
                   ? sign * std::numeric_limits<double>::infinity()
                   : std::numeric_limits<double>::quiet_NaN();
    const int exponent = static_cast<int>(magnitude >> format.fraction);
    const int fraction = static_cast<int>(magnitude & ((1U << format.fraction) - 1));
    if (exponent == 0) return sign * times_power_of_two(fraction, 1 - format.bias - format.fraction);
    return sign * times_power_of_two(fraction + (1 << format.fraction), exponent - format.bias - format.fraction);
}

/// F2FP.SATFINITE.E4M3.F32.PACK_AB_MERGE_C: the first operand becomes the upper byte of two.
void floats_to_bytes(Warp& warp, const Step& step, std::uint32_t mask) {
    const ByteFormat& format = byte_format_of(step.instruction);
    const bool relu = step.instruction.value(Modifier::relu) != 0;
    const View a = warp.view(step, 0), b = warp.view(step, 1);
    std::uint32_t* const out = warp.result(step);
    const auto byte = [&](std::uint32_t bits) {
        const double value = std::bit_cast<float>(bits);
        return byte_of(format, relu ? at_least_zero(value) : value);
    };
    for_lanes(mask, [&](int l) { out[l] = byte(a[l]) << 8 | byte(b[l]); });
}

/// F2FP.SATFINITE.E4M3.F16.UNPACK_B_MERGE_C: two halves become two bytes.
void halves_to_bytes(Warp& warp, const Step& step, std::uint32_t mask) {
    const ByteFormat& format = byte_format_of(step.instruction);
    const bool relu = step.instruction.value(Modifier::relu) != 0;
    const View a = warp.view(step, 0);
    std::uint32_t* const out = warp.result(step);
    const auto byte = [&](std::uint32_t bits) {
        const double value = value_of<F16>(static_cast<std::uint16_t>(bits));
        return byte_of(format, relu ? at_least_zero(value) : value);
    };
    for_lanes(mask, [&](int l) { out[l] = byte(a[l] >> 16) << 8 | byte(a[l]); });
}

/// F2FP.F16.E4M3.UNPACK_B: two bytes of a half of the register become two halves.
void bytes_to_halves(Warp& warp, const Step& step, std::uint32_t mask) {
    const ByteFormat& format = byte_format_of(step.instruction);
    const bool relu = step.instruction.value(Modifier::relu) != 0;
    const unsigned shift = step.instruction.value(Modifier::h1) != 0 ? 16 : 0;
    const View a = warp.view(step, 0);
    std::uint32_t* const out = warp.result(step);
    const auto half = [&](std::uint32_t byte) -> std::uint32_t {
        const double value = value_of_byte(format, byte & 0xFF);
        return rounded<F16>(relu ? at_least_zero(value) : value);
    };
    for_lanes(mask, [&](int l) { out[l] = half(a[l] >> (shift + 8)) << 16 | half(a[l] >> shift); });
}

/// I2IP: saturates two signed words to shorter types, the first one to the upper place. Bytes lie below the lower half
/// of the third operand.
void pack_integers(Warp& warp, const Step& step, std::uint32_t mask) {
    constexpr unsigned kFirstShort = 2;
    const unsigned type = step.instruction.value(Modifier::saturated_integer);
    const unsigned bits = type < kFirstShort ? 8 : 16;
    const View a = warp.view(step, 0), b = warp.view(step, 1), c = warp.view(step, 2);
    std::uint32_t* const out = warp.result(step);
    const auto part = [&](std::uint32_t word) {
        const auto value = integer_bits(type, static_cast<std::int32_t>(word), true);
        return static_cast<std::uint32_t>(value) & ((1U << bits) - 1);
    };
    for_lanes(mask, [&](int l) {
        const std::uint32_t above = type < kFirstShort ? c[l] << 16 : 0;
        out[l] = above | part(a[l]) << bits | part(b[l]);
    });
}

/// F2IP: a float as a byte, saturated. The rounding is to nearest, or to zero.
void float_to_byte(Warp& warp, const Step& step, std::uint32_t mask) {
    constexpr unsigned kTruncates = 3;
    const unsigned type = step.instruction.value(Modifier::byte_format);
    const unsigned how = step.instruction.value(Modifier::pack_rounding) == kTruncates ? kTruncates : 0;
    const View b = warp.view(step, 1);
    std::uint32_t* const out = warp.result(step);
    for_lanes(mask, [&](int l) {
        const auto value = integer_bits(type, integral(how, std::bit_cast<float>(b[l])), true);
        out[l] = static_cast<std::uint32_t>(value) & 0xFF;
    });
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

/// What F2FP does, by the texts of its row; nullptr where it is not executed.
Execute packing_execution(const Step& step) {
    const sass::Instruction& instruction = step.instruction;
    const auto text = instruction.form->row->modifiers;
    const bool saturates = instruction.value(Modifier::satfinite) != 0;
    const auto is_zero = [&](int which) {
        return step.source[static_cast<std::size_t>(which)].kind == Source::Kind::zero;
    };
    if (text.find(".TF32") != std::string_view::npos) return to_tf32;
    // What the third operand is merged to, and what overflows to without .SATFINITE, is not known.
    if (text.find(".UNPACK_B_MERGE_C") != std::string_view::npos)
        return saturates && is_zero(1) ? halves_to_bytes : nullptr;
    if (text.find(".PACK_AB_MERGE_C") != std::string_view::npos)
        return saturates && is_zero(2) ? floats_to_bytes : nullptr;
    if (text.find(".UNPACK_B") != std::string_view::npos) return bytes_to_halves;
    if (saturates) return nullptr;
    const bool bfloat =
        instruction.value(Modifier::packed_format) != 0 || instruction.value(Modifier::packed_bfloat) != 0;
    return bfloat ? f2fp<BF16> : f2fp<F16>;
}

}  // namespace

Execute conversion_execution(Step& step) {
    const sass::Instruction& instruction = step.instruction;
    const auto text = instruction.form->row->modifiers;
    switch (instruction.operation) {
        case Operation::F2I: return f2i;
        case Operation::I2F:
        case Operation::I2FP: return i2f;
        case Operation::F2F: return f2f;
        case Operation::FRND:
            return text.find("BF16") != std::string_view::npos  ? frnd_half<BF16>
                   : text.find("F16") != std::string_view::npos ? frnd_half<F16>
                                                                : frnd;
        case Operation::F2FP: return packing_execution(step);
        case Operation::I2IP: return pack_integers;
        case Operation::F2IP: {
            // How it packs more than one byte, and what a NaN becomes without .NTZ, is not known.
            const bool one = step.source[0].kind == Source::Kind::zero && step.source[2].kind == Source::Kind::zero;
            return one && instruction.value(Modifier::ntz) != 0 && instruction.value(Modifier::relu) == 0
                       ? float_to_byte
                       : nullptr;
        }
        case Operation::I2I: return i2i;
        default: return nullptr;
    }
}

}  // namespace gputomo::sim::machine_code
