#include "sim/machine_code/warpgroup_arithmetic.hpp"

#include "sim/exec/half_format.hpp"
#include "sim/exec/powers_of_two.hpp"
#include "sim/machine_code/rounding.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <limits>

namespace gputomo::sim::machine_code::warpgroup {
namespace {

constexpr int kBitsOfRow = 256;         // of A
constexpr int kFactorBits = 10;         // of a factor's fraction: those of half precision
constexpr int kZeroExponent = -10'000;  // of zero: below all others, and twice this number still has 16 bits

/// How a floating-point type is encoded.
struct FloatCode {
    int bits;      ///< of the word that holds it
    int dropped;   ///< lower bits that are not read
    int exponent;  ///< bits
    int fraction;  ///< bits
    bool has_infinity;
};

constexpr FloatCode code_of(Element element) {
    switch (element) {
        case Element::bf16: return {16, 0, 8, 7, true};
        case Element::tf32: return {32, 13, 8, 10, true};
        case Element::e4m3: return {8, 0, 4, 3, false};
        case Element::e5m2: return {8, 0, 5, 2, true};
        default: return {16, 0, 5, 10, true};
    }
}

bool is_special(const FloatCode& code, int exponent, int fraction) {
    return exponent == (1 << code.exponent) - 1 && (code.has_infinity || fraction == (1 << code.fraction) - 1);
}

bool is_float(Element element) { return element <= Element::e5m2; }
bool has_bytes(Element element) { return element == Element::e4m3 || element == Element::e5m2; }

/// The value of an element, which may be infinite or NaN.
double value_of(const FloatCode& code, std::uint32_t bits) {
    bits >>= code.dropped;
    const auto fraction = static_cast<int>(bits & ((1U << code.fraction) - 1));
    const auto exponent = static_cast<int>(bits >> code.fraction & ((1U << code.exponent) - 1));
    const bool negative = (bits >> (code.fraction + code.exponent) & 1) != 0;
    const int bias = (1 << (code.exponent - 1)) - 1;
    double value = 0;
    if (is_special(code, exponent, fraction))
        value = code.has_infinity && fraction == 0 ? std::numeric_limits<double>::infinity()
                                                   : std::numeric_limits<double>::quiet_NaN();
    else if (exponent == 0)
        value = times_power_of_two(fraction, 1 - bias - code.fraction);
    else
        value = times_power_of_two(fraction + (1 << code.fraction), exponent - bias - code.fraction);
    return negative ? -value : value;
}

/// Reads element `i` of a line. An infinity or NaN is stored as zero, and the line is marked as not finite.
void read_float(const FloatCode& code, std::uint32_t bits, bool negated, std::size_t i, Line& line) {
    bits >>= code.dropped;
    const auto fraction = static_cast<int>(bits & ((1U << code.fraction) - 1));
    const auto exponent = static_cast<int>(bits >> code.fraction & ((1U << code.exponent) - 1));
    const bool negative = ((bits >> (code.fraction + code.exponent) & 1) != 0) != negated;
    const int bias = (1 << (code.exponent - 1)) - 1;
    const bool special = is_special(code, exponent, fraction), zero = special || (exponent == 0 && fraction == 0);
    const int whole = exponent == 0 ? fraction : fraction | 1 << code.fraction;
    const int mantissa = zero ? 0 : whole << (kFactorBits - code.fraction);
    line.finite &= !special;
    line.mantissas[i] = negative ? -mantissa : mantissa;
    line.exponents[i] = static_cast<std::int16_t>(zero ? kZeroExponent : std::max(exponent, 1) - bias);
}

/// A mantissa times 2^shift, cut off towards zero.
std::int64_t shifted(std::int64_t mantissa, int shift) {
    constexpr int kNothingLeft = 62;
    if (shift >= 0) return mantissa << shift;
    if (shift < -kNothingLeft) return 0;
    return mantissa < 0 ? -(-mantissa >> -shift) : mantissa >> -shift;
}

/// sum * 2^exponent as the bits of a float with `bits` of mantissa, cut off towards zero.
std::uint32_t cut_off(std::int64_t sum, int exponent, int bits) {
    constexpr int kFraction = 23, kBias = 127, kLargest = 254;
    if (sum == 0) return 0;
    const std::uint32_t sign = sum < 0 ? 1U << 31 : 0;
    const auto magnitude = static_cast<std::uint64_t>(sum < 0 ? -sum : sum);
    const int width = static_cast<int>(std::bit_width(magnitude));
    // Subnormal numbers have fewer bits.
    const int biased = exponent + width - 1 + kBias, kept = biased > 0 ? bits : bits + biased - 1;
    if (kept <= 0) return sign;
    if (biased > kLargest) return sign | (kLargest + 1) << kFraction;
    const std::uint64_t cut = width > kept ? magnitude >> (width - kept) << (width - kept) : magnitude;
    const int up = kFraction + 1 - width + std::min(biased - 1, 0);
    const auto fraction = static_cast<std::uint32_t>(up >= 0 ? cut << up : cut >> -up) & ((1U << kFraction) - 1);
    return sign | static_cast<std::uint32_t>(std::max(biased, 0)) << kFraction | fraction;
}

struct Addend {
    std::int64_t mantissa = 0;  ///< with 23 bits of fraction
    int exponent = kZeroExponent;
};
constexpr int kAddendBits = 23;

/// A finite number in `exponent_bits` and `fraction_bits`, with a sign above them.
Addend addend_of(std::uint32_t bits, int exponent_bits, int fraction_bits) {
    const auto fraction = static_cast<std::int64_t>(bits & ((1U << fraction_bits) - 1));
    const auto exponent = static_cast<int>(bits >> fraction_bits & ((1U << exponent_bits) - 1));
    if (exponent == 0 && fraction == 0) return {};
    const int bias = (1 << (exponent_bits - 1)) - 1;
    Addend found;
    if (exponent == 0) {
        const int width = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(fraction)));
        found = {fraction << (kAddendBits + 1 - width), width - fraction_bits - bias};
    } else {
        found = {(fraction | std::int64_t{1} << fraction_bits) << (kAddendBits - fraction_bits), exponent - bias};
    }
    if ((bits >> (exponent_bits + fraction_bits) & 1) != 0) found.mantissa = -found.mantissa;
    return found;
}

}  // namespace

int bits_of(Element element) {
    if (element == Element::b1) return 1;
    return is_float(element) ? code_of(element).bits : 8;
}

void read_line(Element element, std::span<const std::uint32_t> words, bool negated, Line& line) {
    line.finite = true;
    line.negated = negated;
    if (element == Element::tf32) std::ranges::copy(words, line.words.begin());
    if (element == Element::b1) {
        for (std::size_t i = 0; i < words.size(); ++i) line.mantissas[i] = static_cast<std::int32_t>(words[i]);
        return;
    }
    const auto bits = static_cast<std::size_t>(bits_of(element)), each = 32 / bits;
    const FloatCode code = code_of(element);
    for (std::size_t i = 0; i < words.size() * each; ++i) {
        const std::uint32_t word = words[i / each] >> (bits * (i % each));
        if (element == Element::s8)
            line.mantissas[i] = static_cast<std::int8_t>(word);
        else if (element == Element::u8)
            line.mantissas[i] = static_cast<std::uint8_t>(word);
        else
            read_float(code, word, negated, i, line);
    }
    if (line.finite) return;
    for (std::size_t i = 0; i < words.size() * each; ++i) {
        const double value = value_of(code, words[i / each] >> (bits * (i % each)));
        line.values[i] = negated ? -value : value;
    }
}

namespace {

void keep_elements(std::span<const std::uint8_t> places, const Line& column, Line& kept) {
    kept.finite = true;
    for (std::size_t i = 0; i < places.size(); ++i) {
        kept.exponents[i] = column.exponents[places[i]];
        kept.mantissas[i] = column.mantissas[places[i]];
    }
    if (column.finite) return;
    for (std::size_t i = 0; i < places.size(); ++i) {
        kept.values[i] = column.values[places[i]];
        kept.finite &= std::isfinite(kept.values[i]);
    }
}

/// Elements of 32 bits, whose halves have places.
void keep_halves(const Places& places, const Line& column, Line& kept) {
    constexpr std::size_t kElements = kBitsOfRow / 32;
    std::array<std::uint8_t, kElements> elements{};
    std::array<std::uint32_t, kElements> words{};
    bool whole = true;
    const auto half = [&column](std::uint8_t at) { return column.words[at / 2] >> (at % 2 * 16) & 0xFFFF; };
    for (std::size_t i = 0; i < kElements; ++i) {
        const std::uint8_t lower = places[2 * i], upper = places[2 * i + 1];
        elements[i] = lower / 2;
        words[i] = half(lower) | half(upper) << 16;
        whole &= lower % 2 == 0 && upper == lower + 1;
    }
    if (whole) return keep_elements(elements, column, kept);
    read_line(Element::tf32, words, column.negated, kept);
}

}  // namespace

void keep(Element element, const Line& column, const Places& places, Line& kept) {
    if (element == Element::tf32) return keep_halves(places, column, kept);
    keep_elements(std::span(places).first(static_cast<std::size_t>(kBitsOfRow / bits_of(element))), column, kept);
}

namespace {

/// A product of numbers that are not all finite.
double special_sum(const Line& a, const Line& b, std::size_t depth, double sum) {
    const auto value = [](const Line& line, std::size_t k) {
        return line.finite ? times_power_of_two(line.mantissas[k], line.exponents[k] - kFactorBits) : line.values[k];
    };
    for (std::size_t k = 0; k < depth; ++k) sum += value(a, k) * value(b, k);
    return sum;
}

/// The sum in units of 2^(largest - guard).
struct Aligned {
    std::int64_t sum = 0;
    int largest = kZeroExponent;
};

template <std::size_t depth, int guard>
Aligned aligned_sum(const Line& a, const Line& b, const Addend& added) {
    std::array<std::int16_t, depth> exponents;
    for (std::size_t k = 0; k < depth; ++k) exponents[k] = static_cast<std::int16_t>(a.exponents[k] + b.exponents[k]);
    std::int16_t largest = static_cast<std::int16_t>(added.exponent);
    for (std::size_t k = 0; k < depth; ++k) largest = std::max(largest, exponents[k]);
    Aligned result{.largest = largest};
    if (largest <= kZeroExponent / 2) return result;
    result.sum = shifted(added.mantissa, guard - kAddendBits - (largest - added.exponent));
    // A product has 22 bits. Cut off further than that, nothing is left of it.
    constexpr int kUp = std::max(guard - 2 * kFactorBits, 0), kDown = std::max(2 * kFactorBits - guard, 0), kMost = 31;
    std::int64_t total = 0;
    for (std::size_t k = 0; k < depth; ++k) {
        const std::int32_t product = a.mantissas[k] * b.mantissas[k], sign = product >> 31;
        const std::int32_t magnitude = ((product ^ sign) - sign) << kUp;
        const std::int32_t kept = magnitude >> std::min(largest - exponents[k] + kDown, kMost);
        total += (kept ^ sign) - sign;
    }
    result.sum += total;
    return result;
}

}  // namespace

std::uint32_t float_sum(Element element, Sum type, const Line& a, const Line& b, std::uint32_t sum) {
    const double before = type == Sum::f16 ? sim::value_of<F16>(static_cast<std::uint16_t>(sum))
                                           : static_cast<double>(std::bit_cast<float>(sum));
    if (!a.finite || !b.finite || !std::isfinite(before)) {
        const double special = special_sum(a, b, static_cast<std::size_t>(kBitsOfRow / bits_of(element)), before);
        if (type == Sum::f16) return rounded<F16>(special);
        return result_bits(static_cast<float>(special), false, false);
    }
    constexpr int kGuard = 25, kGuardOfBytes = 13;
    const bool bytes = has_bytes(element);
    const Addend added = type == Sum::f16 ? addend_of(sum, 5, 10) : addend_of(sum, 8, 23);
    const Aligned found = bytes                      ? aligned_sum<32, kGuardOfBytes>(a, b, added)
                          : element == Element::tf32 ? aligned_sum<8, kGuard>(a, b, added)
                                                     : aligned_sum<16, kGuard>(a, b, added);
    if (found.largest <= kZeroExponent / 2) return 0;
    const int unit = found.largest - (bytes ? kGuardOfBytes : kGuard);
    if (type == Sum::f16) return rounded<F16>(times_power_of_two(static_cast<double>(found.sum), unit));
    return cut_off(found.sum, unit, bytes ? kGuardOfBytes + 1 : 24);
}

std::uint32_t integer_sum(Element element, const Line& a, const Line& b, std::uint32_t sum, bool saturates) {
    using limits = std::numeric_limits<std::int32_t>;
    if (element == Element::b1) {
        constexpr std::size_t kWords = 8;
        for (std::size_t i = 0; i < kWords; ++i)
            sum +=
                static_cast<std::uint32_t>(std::popcount(static_cast<std::uint32_t>(a.mantissas[i] & b.mantissas[i])));
        return sum;
    }
    std::int64_t exact = static_cast<std::int32_t>(sum);
    for (std::size_t k = 0; k < static_cast<std::size_t>(kMostKept); ++k) exact += a.mantissas[k] * b.mantissas[k];
    if (!saturates) return static_cast<std::uint32_t>(exact);
    return static_cast<std::uint32_t>(std::clamp<std::int64_t>(exact, limits::min(), limits::max()));
}

}  // namespace gputomo::sim::machine_code::warpgroup
