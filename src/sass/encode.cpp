#include "sass/code.hpp"
#include "sass/form.hpp"
#include "units/error.hpp"

#include <fmt/format.h>

#include <utility>

namespace gputomo::sass {
namespace {

[[noreturn]] void does_not_fit(const Form& form, std::string_view what, std::int64_t value, int width) {
    throw InputError(fmt::format("machine code: {} cannot hold the {} {}; expected a value of {} bits",
                                 name_of(form.operation), what, value, width));
}

/// Writes the fields of one instruction and checks that each value fits.
class Writer {
public:
    explicit Writer(const Form& form) : form_(form), word_(form.fixed_value) {}

    void put(BitRange range, std::uint64_t value, std::string_view what) {
        if (value > Word::ones(range.width)) does_not_fit(form_, what, static_cast<std::int64_t>(value), range.width);
        word_.set(range, value);
    }
    void put(const SplitField& field, std::uint64_t value, std::string_view what) {
        if (value > Word::ones(field.width()))
            does_not_fit(form_, what, static_cast<std::int64_t>(value), field.width());
        field.set(word_, value);
    }
    void number(const Slot& slot, std::int64_t value) {
        const std::int64_t steps = value / slot.scale;
        const int width = slot.field.width();
        const auto raw = static_cast<std::uint64_t>(steps) & Word::ones(width);
        const auto back = slot.is_signed ? sign_extended(raw, width) : static_cast<std::int64_t>(raw);
        if (back * slot.scale != value) does_not_fit(form_, "number", value, width);
        slot.field.set(word_, raw);
    }
    void operand(const Slot& slot, const Operand& from) {
        if (from.kind != slot.kind)
            throw InputError(
                fmt::format("machine code: {} has an operand of another kind than its form, which is {:#x} '{}'",
                            name_of(form_.operation), form_.opcode, form_.row->operands));
        flag(slot.negate, from.negate);
        flag(slot.absolute, from.absolute);
        flag(slot.invert, from.invert);
        switch (slot.kind) {
            case OperandKind::reg:
            case OperandKind::convergence_barrier:
            case OperandKind::scoreboard:
            case OperandKind::group_barrier:
            case OperandKind::special: put(slot.field, from.reg, "register"); break;
            case OperandKind::predicate:
            case OperandKind::uniform_predicate:
                put(slot.field, slot.complemented ? from.reg ^ kTruePredicate : from.reg, "predicate");
                break;
            case OperandKind::uniform:
            case OperandKind::matrix_descriptor: put(slot.field, from.uniform, "uniform register"); break;
            case OperandKind::all_predicates: break;
            case OperandKind::constant:
            case OperandKind::memory:
                if (slot.reg.width > 0) put(slot.reg, from.reg, "register");
                if (slot.uniform.width > 0) put(slot.uniform, from.uniform, "uniform register");
                if (slot.bank.width > 0) put(slot.bank, from.bank, "constant bank");
                number(slot, from.value);
                break;
            default: number(slot, from.value); break;
        }
    }
    [[nodiscard]] Word word() const { return word_; }

private:
    void flag(BitRange range, bool value) {
        if (range.width == 0 && value)
            throw InputError(
                fmt::format("machine code: {} has no such sign, absolute value or complement in form {:#x} '{}'",
                            name_of(form_.operation), form_.opcode, form_.row->operands));
        word_.set(range, value ? 1 : 0);
    }
    const Form& form_;
    Word word_;
};

void put_control(Word& word, const Control& control) {
    for (const auto& [range, value, name] : {std::tuple{kStall, control.stall, "stall count"},
                                             {kWriteBarrier, control.write_barrier, "write barrier"},
                                             {kReadBarrier, control.read_barrier, "read barrier"},
                                             {kWait, control.wait, "wait mask"},
                                             {kReuse, control.reuse, "reuse mask"}}) {
        if (value > Word::ones(range.width))
            throw InputError(
                fmt::format("machine code: the {} is {}; expected at most {}", name, value, Word::ones(range.width)));
        word.set(range, value);
    }
    word.set(kStay, control.stay ? 1 : 0);
}

}  // namespace

Word encode(const Instruction& instruction) {
    if (instruction.form == nullptr)
        throw InputError("machine code: cannot encode an instruction without a form; take one of all_forms()");
    const Form& form = *instruction.form;
    Writer writer(form);
    writer.put(kGuardPredicate, instruction.guard.predicate, "guard");
    writer.put(kGuardInvert, instruction.guard.invert ? 1 : 0, "guard");
    for (std::size_t i = 0; i < form.modifiers.size(); ++i)
        writer.put(form.modifiers[i].field, instruction.modifier_values[i], name_of(form.modifiers[i].modifier));
    if (instruction.operand_count != form.slots.size())
        throw InputError(fmt::format("machine code: {} has {} operands; its form {:#x} '{}' expects {}",
                                     name_of(form.operation), instruction.operand_count, form.opcode,
                                     form.row->operands, form.slots.size()));
    for (std::size_t i = 0; i < form.slots.size(); ++i) writer.operand(form.slots[i], instruction.operand_store[i]);
    Word word = writer.word();
    put_control(word, instruction.control);
    return word;
}

void set_control(std::span<std::byte> code, std::size_t index, const Control& control) {
    const std::size_t offset = index * kInstructionBytes;
    Word word = word_at(code, offset);
    put_control(word, control);
    for (std::size_t i = 0; i < 8; ++i) {
        code[offset + i] = static_cast<std::byte>(word.low >> (8 * i));
        code[offset + 8 + i] = static_cast<std::byte>(word.high >> (8 * i));
    }
}

}  // namespace gputomo::sass
