// Reads and prints PTX literals: 12, 0x1F, 017, 0b101, 12U, 1.5, 0f3F800000, 0d3FF0000000000000. Floating-point values
// are stored as the bits of a double, including NaN payloads.
#pragma once

#include "ptx/ir.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace gputomo::ptx {

/// Converts the bits of a float to those of the double of equal value. A NaN keeps sign, payload and quietness.
[[nodiscard]] std::uint64_t widen_float_bits(std::uint32_t bits);
/// Converts the bits of a double to those of the nearest float.
[[nodiscard]] std::uint32_t narrow_float_bits(std::uint64_t bits);

/// "0f3F800000" for the bits of a double.
[[nodiscard]] std::string float_literal(std::uint64_t double_bits);
/// "0d3FF0000000000000"
[[nodiscard]] std::string double_literal(std::uint64_t double_bits);

/// Reads a literal without sign; nullopt if the text is no literal or does not fit in 64 bits.
[[nodiscard]] std::optional<Immediate> parse_literal(std::string_view text);
/// -value; integers are negated in two's complement.
[[nodiscard]] Immediate negated(Immediate value);

/// The type, f32 or f64, of floating-point literals in this instruction.
[[nodiscard]] Type literal_type(const Instruction& instruction);

}  // namespace gputomo::ptx
