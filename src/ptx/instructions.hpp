// The table of instruction forms: what mnemonics exist, with which suffixes, types and operands.
#pragma once

#include "ptx/ir.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gputomo::ptx {

/// One row of the table. To add an instruction, add a row (instruction_table.cpp) and say in the simulator what it
/// does.
///
/// `suffixes`, in PTX's order, separated by spaces; each is a choice `a|b|c`, and one that ends in `?` may be left out:
///   T first type, S second type, SP state space, V vector width (v2, v4, v8); anything else is a modifier, kept as
///   text.
/// `operands`, separated by spaces; `>` marks a destination, a final `?` one that may be left out, a final `~` a
/// register that may be wider than the type (loads, stores, conversions):
///   T S  of that type             W    of T's double width       b32 u64 ...  of that very type
///   P    predicate (source: !p)   []   address                   L            label, list of labels
///   V    T, or vector if there is a width                        M            T, {…}, symbol or special register
///   C    a coordinate or vector of type S                        v            a vector of any length
///   A    u32 or u64 address register                             >X|P?        with a predicate as second destination
struct Form {
    Opcode opcode{};
    std::string_view suffixes;
    std::string_view types;         ///< what T may be, separated by spaces
    std::string_view source_types;  ///< what S may be
    std::string_view operands;
    std::string_view section;  ///< of the PTX ISA
};

/// All rows; rows of one opcode are neighbours and the first that fits is meant.
[[nodiscard]] std::span<const Form> instruction_table();
[[nodiscard]] std::span<const Form> forms_of(Opcode opcode);

/// One operand position of a form.
struct OperandRule {
    std::string_view type;  ///< "T", "P", "[]", ...
    bool destination = false;
    bool optional = false;
    bool may_be_wider = false;
    bool optional_second = false;  ///< >X|P?
};
[[nodiscard]] std::vector<OperandRule> operand_rules(const Form& form);

/// The form that `mnemonic` ("mad.lo.s32") names and the Instruction it starts: opcode, modifiers, types, space, width.
struct Lookup {
    const Form* form = nullptr;
    Instruction instruction;
};
/// Nothing where no row fits; why_unknown() then says what is wrong.
[[nodiscard]] std::optional<Lookup> look_up(std::string_view mnemonic);
[[nodiscard]] std::string why_unknown(std::string_view mnemonic);

/// The row that an instruction in memory belongs to; nullptr where it fits none.
[[nodiscard]] const Form* form_of(const Instruction& instruction);
/// "ld.global.ca.v2.f32"; the opcode alone where it fits no row.
[[nodiscard]] std::string mnemonic_of(const Instruction& instruction);

/// The type that a rule asks for in this instruction; Type::none where it is not a matter of type.
[[nodiscard]] Type required_type(const OperandRule& rule, const Instruction& instruction);

/// What is wrong with the operands ("operand 2 is %f1 of type f32; expected s32"); nothing where they fit.
[[nodiscard]] std::optional<std::string> operand_fault(const Form& form, const Instruction& instruction,
                                                       std::span<const RegisterInfo> registers);

/// Several forms may differ in their operands only (bar.red); tries each that shares the suffixes.
[[nodiscard]] std::optional<std::string> operand_fault(const Instruction& instruction,
                                                       std::span<const RegisterInfo> registers);

}  // namespace gputomo::ptx
