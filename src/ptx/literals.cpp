#include "ptx/literals.hpp"

#include <bit>
#include <cmath>
#include <fmt/format.h>

namespace gputomo::ptx {

// A conversion in hardware would make a signalling NaN quiet, so NaNs are moved bit by bit: a float's 23 fraction bits
// are the upper ones of a double's 52.
std::uint64_t widen_float_bits(std::uint32_t bits) {
    const float value = std::bit_cast<float>(bits);
    if (!std::isnan(value)) return std::bit_cast<std::uint64_t>(static_cast<double>(value));
    return (std::uint64_t{bits >> 31} << 63) | (std::uint64_t{0x7ff} << 52) | (std::uint64_t{bits & 0x7fffffu} << 29);
}

std::uint32_t narrow_float_bits(std::uint64_t bits) {
    const double value = std::bit_cast<double>(bits);
    if (!std::isnan(value)) return std::bit_cast<std::uint32_t>(static_cast<float>(value));
    const auto fraction = static_cast<std::uint32_t>(bits >> 29) & 0x7fffffu;
    return (static_cast<std::uint32_t>(bits >> 63) << 31) | (0xffu << 23) | (fraction == 0 ? 0x400000u : fraction);
}

std::string float_literal(std::uint64_t double_bits) { return fmt::format("0f{:08X}", narrow_float_bits(double_bits)); }
std::string double_literal(std::uint64_t double_bits) { return fmt::format("0d{:016X}", double_bits); }

}  // namespace gputomo::ptx
