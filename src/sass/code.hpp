// Decoding, encoding and printing of machine instructions.
#pragma once

#include "sass/instruction.hpp"
#include "sass/word.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace gputomo::sass {

/// The instruction that the bits encode. Throws InputError that names the opcode, the address and the unknown bits if
/// no row of the table accounts for every bit.
[[nodiscard]] Instruction decode(const Word& word, int sm, std::uint64_t address);

/// The instructions of a function, whose first one is at `address`.
[[nodiscard]] std::vector<Instruction> decode(std::span<const std::byte> code, int sm, std::uint64_t address = 0);

/// The bits of an instruction: the inverse of decode(). Throws InputError if an operand does not fit its field.
[[nodiscard]] Word encode(const Instruction& instruction);

/// As nvdisasm prints it, without the semicolon: "@!P0 FADD.FTZ R1, R2, -R3.reuse". Targets of branches are addresses.
[[nodiscard]] std::string text_of(const Instruction& instruction, std::uint64_t address);

/// "FADD.FTZ"
[[nodiscard]] std::string mnemonic_of(const Instruction& instruction);

/// 16 bytes, the lowest first.
[[nodiscard]] Word word_at(std::span<const std::byte> code, std::size_t offset);

/// Replaces the control fields of instruction `index` in place. Throws InputError beyond the end or for a value that
/// does not fit.
void set_control(std::span<std::byte> code, std::size_t index, const Control& control);
[[nodiscard]] Control control_of(const Word& word);

}  // namespace gputomo::sass
