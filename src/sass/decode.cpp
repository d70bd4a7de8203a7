#include "sass/code.hpp"
#include "sass/form.hpp"
#include "units/error.hpp"

#include <fmt/format.h>

#include <bit>
#include <optional>
#include <utility>

namespace gputomo::sass {
namespace {

constexpr BitRange kOpcode{0, 12};

/// Bits [first, first + width) as "81-83" or "90", for messages.
std::string bits_text(const Word& mask) {
    std::string text;
    for (std::uint8_t bit = 0; bit < 128; ++bit) {
        if (mask.get({bit, 1}) == 0) continue;
        std::uint8_t last = bit;
        while (last < 127 && mask.get({static_cast<std::uint8_t>(last + 1), 1}) != 0) ++last;
        text += fmt::format("{}{}", text.empty() ? "" : ", ", bit);
        if (last > bit) text += fmt::format("-{}", last);
        bit = last;
    }
    return text;
}

/// A modifier of the form whose bits no instruction has.
std::optional<Modifier> invalid_modifier(const Form& form, const Word& word) {
    for (const auto& field : form.modifiers)
        if (text_of(field.modifier, field.field.get(word)) == "!") return field.modifier;
    return std::nullopt;
}

/// Says which operand no instruction has, or nullptr: a scoreboard beyond the sixth, or a zero register where there has
/// to be another one.
const char* invalid_operand(const Form& form, const Word& word) {
    for (const Slot& slot : form.slots) {
        // Textures and surfaces have no zero registers as descriptors and coordinates.
        const auto operation = form.operation;
        const bool samples = operation == Operation::TEX || operation == Operation::TLD ||
                             operation == Operation::TLD4 || operation == Operation::TXD;
        const int first = slot.field.low.first;
        const bool texture = samples || operation == Operation::TXQ;
        if (texture && slot.kind == OperandKind::uniform && slot.field.get(word) == kZeroUniformRegister)
            return "URZ as a descriptor";
        if (samples && first == 24 && slot.field.get(word) == kZeroRegister) return "RZ as a coordinate";
        const bool surface = slot.kind == OperandKind::memory && slot.field.low.width == 0 && slot.reg.width > 0;
        if (surface && word.get(slot.reg) == kZeroRegister) return "RZ as a coordinate";
        if (slot.kind == OperandKind::scoreboard && slot.field.get(word) >= kScoreboards)
            return "a scoreboard above SB5";
        const bool two_registers = slot.kind == OperandKind::memory && slot.uniform.width > 0 && !slot.descriptor;
        if (form.operation == Operation::LDGSTS) continue;
        if (two_registers && slot.address_width == AddressWidth::bits_64 && word.get(slot.reg) == kZeroRegister)
            return "RZ as the base of a 64-bit address beside a uniform register";
    }
    return nullptr;
}

/// Says which dependence barrier of the control fields no warp has, or gives an empty text.
std::string invalid_barrier(const Word& word) {
    const Control control = control_of(word);
    const auto exists = [](std::uint8_t barrier) { return barrier < kScoreboards || barrier == kNoBarrier; };
    for (const auto& [barrier, name] : {std::pair{control.write_barrier, "write"}, {control.read_barrier, "read"}})
        if (!exists(barrier))
            return fmt::format("dependence barrier {} as its {} barrier; expected 0 to {}, or {} for none", barrier,
                               name, kScoreboards - 1, kNoBarrier);
    return {};
}

std::int64_t number(const Slot& slot, const Word& word) {
    const auto raw = slot.field.get(word);
    return (slot.is_signed ? sign_extended(raw, slot.field.width()) : static_cast<std::int64_t>(raw)) * slot.scale;
}

Operand operand_of(const Slot& slot, const Word& word) {
    Operand operand{.kind = slot.kind};
    operand.descriptor = slot.descriptor;
    operand.address_width = slot.address_width;
    operand.negate = word.get(slot.negate) != 0;
    operand.absolute = word.get(slot.absolute) != 0;
    operand.invert = word.get(slot.invert) != 0;
    operand.reuse = word.get(slot.reuse) != 0;
    switch (slot.kind) {
        case OperandKind::reg:
        case OperandKind::predicate:
        case OperandKind::uniform_predicate:
        case OperandKind::convergence_barrier:
        case OperandKind::scoreboard:
        case OperandKind::group_barrier:
        case OperandKind::special: operand.reg = static_cast<std::uint8_t>(slot.field.get(word)); break;
        case OperandKind::uniform:
        case OperandKind::matrix_descriptor: operand.uniform = static_cast<std::uint8_t>(slot.field.get(word)); break;
        case OperandKind::all_predicates: break;
        case OperandKind::constant:
        case OperandKind::memory:
            operand.has_reg = slot.reg.width > 0;
            operand.has_uniform = slot.uniform.width > 0;
            if (operand.has_reg) operand.reg = static_cast<std::uint8_t>(word.get(slot.reg));
            if (operand.has_uniform) operand.uniform = static_cast<std::uint8_t>(word.get(slot.uniform));
            operand.bank = static_cast<std::uint8_t>(word.get(slot.bank));
            operand.value = number(slot, word);
            break;
        default: operand.value = number(slot, word); break;
    }
    if (slot.complemented) operand.reg ^= kTruePredicate;
    return operand;
}

Instruction decode_as(const Form& form, const Word& word) {
    Instruction instruction;
    instruction.form = &form;
    instruction.operation = form.operation;
    instruction.guard = {static_cast<std::uint8_t>(word.get(kGuardPredicate)), word.get(kGuardInvert) != 0,
                         form.uniform_guard};
    instruction.control = control_of(word);
    for (std::size_t i = 0; i < form.modifiers.size(); ++i)
        instruction.modifier_values[i] = static_cast<std::uint8_t>(form.modifiers[i].field.get(word));
    for (const Slot& slot : form.slots) instruction.operand_store[instruction.operand_count++] = operand_of(slot, word);
    return instruction;
}

[[noreturn]] void unknown(const Word& word, std::uint64_t address, const std::string& why) {
    throw InputError(
        fmt::format("machine code: at address {:#x}: the instruction {:#018x} {:#018x} with opcode {:#05x} {}", address,
                    word.low, word.high, word.get(kOpcode), why));
}

/// Says why no form with this opcode fits, by the form that comes closest.
[[noreturn]] void refuse(const Word& word, int sm, std::uint64_t address, std::span<const Form> forms) {
    const Form* closest = nullptr;
    Word wrong;
    for (const Form& form : forms) {
        if (sm < form.row->first_sm || sm > form.row->last_sm) continue;
        const Word differs = (word ^ form.fixed_value) & form.fixed_mask;
        const int count = std::popcount(differs.low) + std::popcount(differs.high);
        if (closest != nullptr && count >= std::popcount(wrong.low) + std::popcount(wrong.high)) continue;
        closest = &form;
        wrong = differs;
    }
    if (closest == nullptr)
        unknown(word, address,
                fmt::format("is not in the table for sm_{}; docs/machine-code.md says how to add a row", sm));
    if (!wrong.any() && invalid_operand(*closest, word) != nullptr)
        unknown(word, address,
                fmt::format("({}) has {}", name_of(closest->operation), invalid_operand(*closest, word)));
    if (!wrong.any()) {
        const auto modifier = invalid_modifier(*closest, word);
        unknown(word, address,
                fmt::format("({}) has an unknown value of its modifier '{}'", name_of(closest->operation),
                            modifier ? name_of(*modifier) : "?"));
    }
    unknown(word, address,
            fmt::format("({}) has unknown values in bits {}", name_of(closest->operation), bits_text(wrong)));
}

}  // namespace

Word word_at(std::span<const std::byte> code, std::size_t offset) {
    if (offset > code.size() || code.size() - offset < kInstructionBytes)
        throw InputError(
            fmt::format("machine code: expected an instruction of {} bytes at {:#x}; the code ends at {:#x}",
                        kInstructionBytes, offset, code.size()));
    Word word;
    for (std::size_t i = 0; i < 8; ++i) {
        word.low |= static_cast<std::uint64_t>(code[offset + i]) << (8 * i);
        word.high |= static_cast<std::uint64_t>(code[offset + 8 + i]) << (8 * i);
    }
    return word;
}

Control control_of(const Word& word) {
    const auto field = [&](BitRange range) { return static_cast<std::uint8_t>(word.get(range)); };
    return {.stall = field(kStall),
            .stay = field(kStay) != 0,
            .write_barrier = field(kWriteBarrier),
            .read_barrier = field(kReadBarrier),
            .wait = field(kWait),
            .reuse = field(kReuse)};
}

bool Instruction::has(Modifier modifier) const {
    return form != nullptr && form->index_of[static_cast<std::size_t>(modifier)] >= 0;
}

std::uint8_t Instruction::value(Modifier modifier) const {
    if (form == nullptr) return 0;
    const int index = form->index_of[static_cast<std::size_t>(modifier)];
    return index < 0 ? 0 : modifier_values[static_cast<std::size_t>(index)];
}

Instruction decode(const Word& word, int sm, std::uint64_t address) {
    const auto forms = forms_of(static_cast<std::uint16_t>(word.get(kOpcode)));
    for (const Form& form : forms) {
        if (((word ^ form.fixed_value) & form.fixed_mask).any()) continue;
        if (sm < form.row->first_sm || sm > form.row->last_sm || invalid_modifier(form, word) ||
            invalid_operand(form, word) != nullptr)
            continue;
        if (const auto barrier = invalid_barrier(word); !barrier.empty())
            unknown(word, address, fmt::format("({}) has {}", name_of(form.operation), barrier));
        return decode_as(form, word);
    }
    refuse(word, sm, address, forms);
}

std::vector<Instruction> decode(std::span<const std::byte> code, int sm, std::uint64_t address) {
    std::vector<Instruction> instructions;
    instructions.reserve(code.size() / kInstructionBytes);
    for (std::size_t offset = 0; offset < code.size(); offset += kInstructionBytes)
        instructions.push_back(decode(word_at(code, offset), sm, address + offset));
    return instructions;
}

}  // namespace gputomo::sass
