#include "sim/machine_code/warpgroup_arithmetic.hpp"

#include "sim/exec/half_format.hpp"
#include "sim/machine_code/rounding.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <limits>

namespace gputomo::sim::machine_code::warpgroup {
namespace {

constexpr int kFactorBits = 10;          // of a factor's fraction: those of half precision
constexpr int kZeroExponent = -100'000;  // of a number that is zero: below all others

/// How a type of floats is coded.
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

bool is_float(Element element) { return element <= Element::e5m2; }
bool has_bytes(Element element) { return element == Element::e4m3 || element == Element::e5m2; }

/// Reads one element; false where it is infinite or no number, which `value` then is.
bool read_float(const FloatCode& code, std::uint32_t bits, Factor& factor, double& value) {
    bits >>= code.dropped;
    const auto fraction = static_cast<std::int32_t>(bits & ((1U << code.fraction) - 1));
    const auto exponent = static_cast<std::int32_t>(bits >> code.fraction & ((1U << code.exponent) - 1));
    const bool negative = (bits >> (code.fraction + code.exponent) & 1) != 0;
    const int bias = (1 << (code.exponent - 1)) - 1, largest = (1 << code.exponent) - 1;
    if (exponent == largest && (code.has_infinity || fraction == (1 << code.fraction) - 1)) {
        value = code.has_infinity && fraction == 0 ? std::numeric_limits<double>::infinity()
                                                   : std::numeric_limits<double>::quiet_NaN();
        if (negative) value = -value;
        factor = {0, kZeroExponent};
        return false;
    }
    std::int32_t mantissa = 0;
    if (exponent != 0) {
        mantissa = (fraction | 1 << code.fraction) << (kFactorBits - code.fraction);
        factor.exponent = exponent - bias;
    } else if (fraction != 0) {
        mantissa = fraction << (kFactorBits - code.fraction);
        factor.exponent = 1 - bias;
    } else {
        factor.exponent = kZeroExponent;
    }
    factor.mantissa = negative ? -mantissa : mantissa;
    value = mantissa == 0 ? 0 : std::ldexp(factor.mantissa, factor.exponent - kFactorBits);
    return true;
}

/// A mantissa times 2^shift, cut off towards zero.
std::int64_t shifted(std::int64_t mantissa, int shift) {
    constexpr int kNothingLeft = 62;
    if (shift >= 0) return mantissa << shift;
    if (shift < -kNothingLeft) return 0;
    return mantissa < 0 ? -(-mantissa >> -shift) : mantissa >> -shift;
}

/// sum * 2^exponent as a float with `bits` of mantissa, cut off towards zero.
float cut_off(std::int64_t sum, int exponent, int bits) {
    constexpr int kSmallest = -149;
    const auto magnitude = static_cast<std::uint64_t>(sum < 0 ? -sum : sum);
    const int excess = std::max(static_cast<int>(std::bit_width(magnitude)) - bits, kSmallest - exponent);
    const std::uint64_t kept = excess <= 0 ? magnitude : excess > 62 ? 0 : magnitude >> excess << excess;
    const double value = std::ldexp(static_cast<double>(kept), exponent);
    return static_cast<float>(sum < 0 ? -value : value);
}

struct Addend {
    std::int64_t mantissa = 0;  ///< with 23 bits of fraction
    int exponent = kZeroExponent;
};
constexpr int kAddendBits = 23;

Addend addend_of(double value) {
    if (value == 0) return {};
    int exponent = 0;
    const double fraction = std::frexp(value, &exponent);  // from 0.5 to 1
    return {static_cast<std::int64_t>(std::ldexp(fraction, kAddendBits + 1)), exponent - 1};
}

}  // namespace

int bits_of(Element element) {
    if (element == Element::b1) return 1;
    return is_float(element) ? code_of(element).bits : 8;
}

void read_line(Element element, const std::array<std::uint32_t, 8>& words, bool negated, Line& line) {
    line.finite = true;
    if (element == Element::b1) {
        for (std::size_t i = 0; i < words.size(); ++i) line.integers[i] = static_cast<std::int32_t>(words[i]);
        return;
    }
    const auto bits = static_cast<std::size_t>(bits_of(element)), each = 32 / bits;
    const FloatCode code = code_of(element);
    for (std::size_t i = 0; i < words.size() * each; ++i) {
        const std::uint32_t word = words[i / each] >> (bits * (i % each));
        if (element == Element::s8) {
            line.integers[i] = static_cast<std::int8_t>(word);
        } else if (element == Element::u8) {
            line.integers[i] = static_cast<std::uint8_t>(word);
        } else {
            line.finite &= read_float(code, word, line.factors[i], line.values[i]);
            if (negated) line.factors[i].mantissa = -line.factors[i].mantissa, line.values[i] = -line.values[i];
        }
    }
}

std::uint32_t float_sum(Element element, Sum type, const Line& a, const Line& b, std::uint32_t sum) {
    const double before = type == Sum::f16 ? value_of<F16>(static_cast<std::uint16_t>(sum))
                                           : static_cast<double>(std::bit_cast<float>(sum));
    const auto depth = static_cast<std::size_t>(256 / bits_of(element));
    if (!a.finite || !b.finite || !std::isfinite(before)) {
        double special = before;
        for (std::size_t k = 0; k < depth; ++k) special += a.values[k] * b.values[k];
        if (type == Sum::f16) return rounded<F16>(special);
        return result_bits(static_cast<float>(special), false, false);
    }
    const int guard = has_bytes(element) ? 13 : 25;
    const Addend added = addend_of(before);
    int largest = added.exponent;
    for (std::size_t k = 0; k < depth; ++k) largest = std::max(largest, a.factors[k].exponent + b.factors[k].exponent);
    if (largest <= kZeroExponent / 2) return 0;
    std::int64_t total = shifted(added.mantissa, guard - kAddendBits - (largest - added.exponent));
    for (std::size_t k = 0; k < depth; ++k) {
        const std::int64_t product = std::int64_t{a.factors[k].mantissa} * b.factors[k].mantissa;
        const int below = largest - a.factors[k].exponent - b.factors[k].exponent;
        if (product != 0) total += shifted(product, guard - 2 * kFactorBits - below);
    }
    if (type == Sum::f16) return rounded<F16>(std::ldexp(static_cast<double>(total), largest - guard));
    return std::bit_cast<std::uint32_t>(cut_off(total, largest - guard, has_bytes(element) ? 14 : 24));
}

std::uint32_t integer_sum(Element element, const Line& a, const Line& b, std::uint32_t sum, bool saturates) {
    using limits = std::numeric_limits<std::int32_t>;
    if (element == Element::b1) {
        constexpr std::size_t kWords = 8;
        for (std::size_t i = 0; i < kWords; ++i)
            sum += static_cast<std::uint32_t>(std::popcount(static_cast<std::uint32_t>(a.integers[i] & b.integers[i])));
        return sum;
    }
    std::int64_t exact = static_cast<std::int32_t>(sum);
    for (std::size_t k = 0; k < static_cast<std::size_t>(kMostDepth); ++k) exact += a.integers[k] * b.integers[k];
    if (!saturates) return static_cast<std::uint32_t>(exact);
    return static_cast<std::uint32_t>(std::clamp<std::int64_t>(exact, limits::min(), limits::max()));
}

}  // namespace gputomo::sim::machine_code::warpgroup
