// The table of PTX instruction forms: mnemonics with their suffixes, types and operands.
#pragma once

#include "ptx/ir.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gputomo::ptx {

/// One row of the table. To add an instruction, add a row (instruction_table.cpp) and its meaning in the simulator.
///
/// `suffixes` are separated by spaces, in PTX's order. Each is a choice `a|b|c`; a final `?` makes it optional:
///
///   T first type, S second type, SP state space, V vector width (v2, v4, v8); any other suffix is a modifier.
///
/// `operands` are separated by spaces. `>` marks a destination, a final `?` an optional operand, and a final `~` a
/// register that may be wider than the type (loads, stores, conversions):
///
///   T S  of that type             W    of T's double width       b32 u64 ...  of that very type
///   P    predicate (source: !p)   []   address                   L            label, list of labels
///   V    T, or vector if there is a width                        M            T, {…}, symbol or special register
///   C    a coordinate or vector of type S                        v            a vector of any length
///   A    u32 or u64 address register                             >X|P?        with a predicate as second destination
struct Form {
    Opcode opcode{};
    std::string_view suffixes;
    std::string_view types;         ///< allowed types T, separated by spaces
    std::string_view source_types;  ///< allowed types S
    std::string_view operands;
    std::string_view section;  ///< of the PTX ISA
};

/// All rows. Rows of one opcode are neighbours, and the first that matches applies.
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
/// Returns nullopt if no row matches; why_unknown() gives the reason.
[[nodiscard]] std::optional<Lookup> look_up(std::string_view mnemonic);
[[nodiscard]] std::string why_unknown(std::string_view mnemonic);

/// The row of an instruction; nullptr if no row matches.
[[nodiscard]] const Form* form_of(const Instruction& instruction);
/// The mnemonic of an instruction ("ld.global.ca.v2.f32"); its opcode alone if no row matches.
[[nodiscard]] std::string mnemonic_of(const Instruction& instruction);

/// The type that a rule requires in this instruction; Type::none if the rule is not about a type.
[[nodiscard]] Type required_type(const OperandRule& rule, const Instruction& instruction);

/// The error in the operands ("operand 2 is %f1 of type f32; expected s32"); nullopt if they match the form.
[[nodiscard]] std::optional<std::string> operand_fault(const Form& form, const Instruction& instruction,
                                                       std::span<const RegisterInfo> registers);

/// The error in the operands for the best of the forms that share the suffixes; some differ in operands only (bar.red).
[[nodiscard]] std::optional<std::string> operand_fault(const Instruction& instruction,
                                                       std::span<const RegisterInfo> registers);

}  // namespace gputomo::ptx
