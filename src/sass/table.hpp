// The instruction table: one row a form. The rows are in table.cpp, and docs/machine-code.md teaches the notation.
#pragma once

#include "sass/facts.hpp"
#include "sass/operations.hpp"

#include <cstdint>
#include <span>
#include <string_view>

namespace gputomo::sass {

/// An operation's encoding. Bits 0 to 8 of an instruction are `opcode`. Bits 9 to 11, the source format, say where its
/// second and third operand come from.
///
/// `formats` are the source formats that the operation has. Bits 32 to 63 hold the operand S.
/// It is a register in format 1, an immediate in formats 2 and 4, a constant in formats 3 and 5, and a uniform register
/// in formats 6 and 7.
/// Bits 64 to 71 hold another register. In formats 1, 4, 5 and 6 the second operand (B) is S and the third one (C) is
/// that register. In formats 2, 3 and 7 it is the other way round.
///
/// `modifiers` are words that say, in the order of the text, what follows the operation's name.
/// The word `.HI` is this text.
/// The word `ftz@80` is a modifier (modifiers.hpp) in the bits from 80 on.
/// The word `type@75:2+84:1` is a modifier in two fields, the lowest bits first.
/// The word `=7@81:3` prints nothing. It says that the bits always have this value.
/// The word `@UP` says that the guard is a uniform predicate.
/// The words `-64@84 |64@83` say where the register at bit 64 has its sign and its absolute value.
///
/// `operands` are separated by ", ".
/// General registers are `d`, `a`, `b` and `c` at bits 16, 24, 32 and 64, and `r40` at another bit.
/// Uniform registers are `ud`, `ua`, `ub`, `uc` and `u40`.
/// Predicates are `p81` and `up81`. One with a complement bit after it is `!p87`.
/// Stored complemented are `q64` and `uq87`.
/// Flexible sources are `S:f`, `B:s` and `C:u`; with uniform registers `US`, `UB` and `UC`.
/// Their immediate is a float (f), a double (d), two halves (h), signed (s) or unsigned (u).
/// Integers in that many bits are `i32:8` without and `s40:24` with a sign.
/// A sign bit has `-x`, a bit for the absolute value `|x|`, and a complement bit in place of the sign `~x`.
/// Addresses are `[a+ub+s40:24]`, `desc[ub][a.64+s40:24]` and `c[a]`. A register `ub?` is not printed where it is URZ.
/// An operand `x.name@bit` has a modifier of its own, and `x.half` the modifier of which half is read.
/// One written `x.signed_half` can also negate the upper half, by bit 86.
/// An operand `:name@bit` is a modifier that is printed among the operands, and `x.SIGN` the sign bit of a register.
/// An operand `x?` is not printed where it is RZ, PT or 0.
/// A branch target is `t`, a displacement `o`, an absolute address `w`. A target in bytes is `e24:58`.
/// A space instead of a comma stands before `_x`.
///
/// The notation also says what an instruction writes: `d`, `ud`, and predicates without a complement bit. All other
/// operands are read.
///
/// `facts` say what the instruction does and where its cost comes from (facts.hpp). A row without facts has those of
/// the row before it with the same operation. A row without `formats` only gives an opcode its name and its facts: such
/// instructions are counted and listed, and not decoded.
struct Row {
    Operation operation{};
    std::uint16_t opcode = 0;
    std::string_view formats;
    std::string_view modifiers;
    std::string_view operands;
    std::uint8_t first_sm = 90;  ///< The encoding was compared with nvdisasm for these compute capabilities, in tenths.
    std::uint8_t last_sm = 90;
    Facts facts;
};

[[nodiscard]] std::span<const Row> rows();

/// What the table says of the row's instruction: its own facts, or those of an earlier row with the same operation.
[[nodiscard]] const Facts& facts_of(const Row& row);

/// The first row of an opcode, of which the lowest 9 bits count; nullptr if it is unknown.
[[nodiscard]] const Row* row_of(std::uint16_t opcode);

/// The first row of the operation with this name ("FADD"); nullptr if there is none.
[[nodiscard]] const Row* row_named(std::string_view operation);

}  // namespace gputomo::sass
