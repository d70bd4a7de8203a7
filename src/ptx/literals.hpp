// Floating-point literals of PTX, 0fXXXXXXXX and 0dXXXXXXXXXXXXXXXX, to and from the bits of a double, NaN payloads included.
#pragma once

#include <cstdint>
#include <string>

namespace gputomo::ptx {

/// Bits of the double that has the value of the float with these bits. A NaN keeps sign, payload and quietness.
[[nodiscard]] std::uint64_t widen_float_bits(std::uint32_t bits);
/// The other way; what a float cannot hold is rounded to nearest.
[[nodiscard]] std::uint32_t narrow_float_bits(std::uint64_t bits);

/// "0f3F800000" for the bits of a double.
[[nodiscard]] std::string float_literal(std::uint64_t double_bits);
/// "0d3FF0000000000000"
[[nodiscard]] std::string double_literal(std::uint64_t double_bits);

}  // namespace gputomo::ptx
