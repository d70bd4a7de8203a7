// What instructions compute: a table row for each combination of opcode, modifiers and types, in one file by subject.
#pragma once

#include "sim/exec/lanes.hpp"

#include <cstdint>
#include <span>
#include <string_view>

namespace gputomo::sim {

struct Meaning {  // NOLINT(clang-analyzer-optin.performance.Padding): rows read in PTX's order
    ptx::Opcode opcode;
    std::string_view modifiers;  ///< that the instruction must have, joined by dots: "hi.sat"; empty: none
    ptx::Type type;
    ExecuteFunction execute;
    ptx::Type source_type = ptx::Type::none;  ///< none: any
};

/// Sums, products, quotients, minima, and functions such as the sine.
[[nodiscard]] std::span<const Meaning> arithmetic_meanings();
/// Carries, saturation and dot products.
[[nodiscard]] std::span<const Meaning> extended_integer_meanings();
/// Logic, shifts, counts, bit fields and byte permutations.
[[nodiscard]] std::span<const Meaning> bit_meanings();
/// Comparisons, tests, and selection by a predicate.
[[nodiscard]] std::span<const Meaning> comparison_meanings();
/// Moves of whole registers.
[[nodiscard]] std::span<const Meaning> move_meanings();
/// slct: selection by the sign of the third source; nullptr for types that slct does not have.
[[nodiscard]] ExecuteFunction selection_by_sign_of(const ptx::Instruction& instruction);
/// isspacep: whether an address lies in the window of a state space; nullptr for other spaces.
[[nodiscard]] ExecuteFunction space_test_of(const ptx::Instruction& instruction);

using u8 = std::uint8_t;
using s8 = std::int8_t;
using u16 = std::uint16_t;
using s16 = std::int16_t;
using u32 = std::uint32_t;
using s32 = std::int32_t;
using u64 = std::uint64_t;
using s64 = std::int64_t;
using f32 = float;
using f64 = double;

}  // namespace gputomo::sim
