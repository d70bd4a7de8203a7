// Literals of PTX: 12, 0x1F, 017, 0b101, 12U, 1.5, 0f3F800000, 0d3FF0000000000000. Floating-point ones are kept as the
// bits of a double, NaN payloads included.
#pragma once

#include "ptx/ir.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace gputomo::ptx {

/// Bits of the double that has the value of the float with these bits. A NaN keeps sign, payload and quietness.
[[nodiscard]] std::uint64_t widen_float_bits(std::uint32_t bits);
/// The other way; what a float cannot hold is rounded to nearest.
[[nodiscard]] std::uint32_t narrow_float_bits(std::uint64_t bits);

/// "0f3F800000" for the bits of a double.
[[nodiscard]] std::string float_literal(std::uint64_t double_bits);
/// "0d3FF0000000000000"
[[nodiscard]] std::string double_literal(std::uint64_t double_bits);

/// Reads a literal without sign; nothing where it is none or does not fit in 64 bits.
[[nodiscard]] std::optional<Immediate> parse_literal(std::string_view text);
/// -value, of an integer in two's complement.
[[nodiscard]] Immediate negated(Immediate value);

/// The size of floating-point literals in this instruction.
[[nodiscard]] Type literal_type(const Instruction& instruction);

}  // namespace gputomo::ptx
