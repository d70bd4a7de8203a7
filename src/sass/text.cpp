#include "sass/code.hpp"
#include "sass/form.hpp"
#include "sass/special_registers.hpp"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <cmath>
#include <string_view>

namespace gputomo::sass {
namespace {

std::string register_text(std::uint8_t number) { return number == kZeroRegister ? "RZ" : fmt::format("R{}", number); }
std::string uniform_text(std::uint8_t number) {
    return number == kZeroUniformRegister ? "URZ" : fmt::format("UR{}", number);
}
std::string predicate_text(std::uint8_t number) { return number == kTruePredicate ? "PT" : fmt::format("P{}", number); }
std::string signed_hex(std::int64_t value) {
    return value < 0 ? fmt::format("-{:#x}", -static_cast<std::uint64_t>(value)) : fmt::format("{:#x}", value);
}

/// nvdisasm prints large numbers with twenty decimals and other numbers with twenty digits.
std::string float_text(double value, bool is_nan, bool is_quiet) {
    constexpr double kLarge = 1e9;
    const char sign = std::signbit(value) ? '-' : '+';
    if (is_nan) return fmt::format("{}{} ", sign, is_quiet ? "QNAN" : "SNAN");
    if (std::isinf(value)) return fmt::format("{}INF ", sign);
    if (value == 0 && std::signbit(value)) return "-0.0 ";
    return std::abs(value) >= kLarge ? fmt::format("{:.20e}", value) : fmt::format("{:.20g}", value);
}

std::string f32_text(std::uint32_t bits) {
    const auto value = std::bit_cast<float>(bits);
    return float_text(value, std::isnan(value), (bits & 0x400000) != 0);
}

std::string f64_text(std::uint32_t upper) {
    const auto value = std::bit_cast<double>(static_cast<std::uint64_t>(upper) << 32);
    return float_text(value, std::isnan(value), (upper & 0x80000) != 0);
}

std::string half_text(std::uint32_t bits, bool bfloat) {
    if (bfloat) {
        const auto value = std::bit_cast<float>(bits << 16);
        return float_text(value, std::isnan(value), (bits & 0x40) != 0);
    }
    constexpr int kExponentBias = 15;
    constexpr int kFractionBits = 10;
    const int exponent = static_cast<int>(bits >> kFractionBits & 0x1f);
    const int fraction = static_cast<int>(bits & 0x3ff);
    double value = exponent == 0 ? std::ldexp(fraction, 1 - kExponentBias - kFractionBits)
                                 : std::ldexp(fraction + 0x400, exponent - kExponentBias - kFractionBits);
    if (exponent == 0x1f) value = INFINITY;
    if ((bits & 0x8000) != 0) value = -value;
    return float_text(value, exponent == 0x1f && fraction != 0, (bits & 0x200) != 0);
}

bool is_bfloat(const Instruction& instruction) {
    constexpr int kBf16 = 2;
    return instruction.value(Modifier::bf16_v2) != 0 || instruction.value(Modifier::half_format) == kBf16 ||
           instruction.value(Modifier::half_compare_format) == kBf16;
}

/// nvdisasm names descriptors of global memory from compute capability 9.0 on. Earlier code has them, too.
bool precedes_descriptors(const Form& form) {
    constexpr int kFirstNamed = 90;
    return form.row->last_sm < kFirstNamed;
}

class Printer {
public:
    Printer(const Instruction& instruction, std::uint64_t address) : instruction_(instruction), address_(address) {}

    [[nodiscard]] std::string text() const {
        std::string text = guard() + mnemonic_of(instruction_);
        bool first = true;
        for (std::size_t i = 0; i < instruction_.form->slots.size(); ++i) {
            const Slot& slot = instruction_.form->slots[i];
            const Operand& operand = instruction_.operand_store[i];
            if (slot.optional && is_default(operand)) continue;
            if (slot.kind == OperandKind::none && modifier_text(slot.suffixes[0]).empty()) continue;
            text += first || slot.joined ? " " : ", ";
            text += operand_text(slot, operand);
            first = false;
        }
        while (text.ends_with(' ')) text.pop_back();
        return text;
    }

private:
    [[nodiscard]] std::string guard() const {
        const auto& guard = instruction_.guard;
        if (guard.always()) return "";
        return fmt::format("@{}{}{} ", guard.invert ? "!" : "", guard.uniform ? "U" : "",
                           predicate_text(guard.predicate));
    }

    static bool is_default(const Operand& operand) {
        if (operand.kind == OperandKind::predicate || operand.kind == OperandKind::uniform_predicate)
            return operand.reg == kTruePredicate && !operand.invert;
        if (operand.kind == OperandKind::group_barrier) return operand.reg == kNoBarrier;
        if (operand.kind == OperandKind::reg) return operand.reg == kZeroRegister;
        if (operand.kind == OperandKind::uniform) return operand.uniform == kZeroUniformRegister;
        return operand.value == 0;
    }

    [[nodiscard]] std::string operand_text(const Slot& slot, const Operand& operand) const {
        if (slot.kind == OperandKind::none) return std::string(modifier_text(slot.suffixes[0]));
        std::string text = bare(slot, operand);
        const bool inner_bars = operand.kind == OperandKind::reg && instruction_.operation != Operation::MUFU;
        if (operand.absolute && inner_bars) text = fmt::format("|{}|", text);
        if (operand.reuse) text += ".reuse";
        if (slot.sign) text += ".SIGN";
        for (const int suffix : slot.suffixes) {
            const auto word = modifier_text(suffix);
            if (!word.empty()) text += fmt::format(".{}", word);
        }
        if (operand.absolute && !inner_bars) text = fmt::format("|{}|", text);
        if (operand.negate) text.insert(0, 1, '-');
        const bool logical = operand.kind == OperandKind::predicate || operand.kind == OperandKind::uniform_predicate;
        if (operand.invert) text.insert(0, 1, logical ? '!' : '~');
        return text;
    }

    [[nodiscard]] std::string_view modifier_text(int index) const {
        const auto i = static_cast<std::size_t>(index);
        return text_of(instruction_.form->modifiers[i].modifier, instruction_.modifier_values[i]);
    }

    [[nodiscard]] std::string bare(const Slot& slot, const Operand& operand) const {
        const auto bits = static_cast<std::uint32_t>(operand.value);
        switch (operand.kind) {
            case OperandKind::none: return "";
            case OperandKind::reg: return register_text(operand.reg);
            case OperandKind::uniform: return uniform_text(operand.uniform);
            case OperandKind::predicate: return predicate_text(operand.reg);
            case OperandKind::uniform_predicate: return fmt::format("U{}", predicate_text(operand.reg));
            case OperandKind::all_predicates: return operand.descriptor ? "UPR" : "PR";
            case OperandKind::immediate:
                return slot.is_signed ? signed_hex(operand.value) : fmt::format("{:#x}", operand.value);
            case OperandKind::f32: return is_double_function() ? f64_text(bits) : f32_text(bits);
            case OperandKind::f64: return f64_text(bits);
            case OperandKind::f16x2:
                return fmt::format("{}, {}", half_text(bits >> 16, is_bfloat(instruction_)),
                                   half_text(bits & 0xffff, is_bfloat(instruction_)));
            case OperandKind::constant: return constant(slot, operand);
            case OperandKind::memory: return memory(slot, operand);
            case OperandKind::matrix_descriptor: return fmt::format("gdesc[{}]", uniform_text(operand.uniform));
            case OperandKind::convergence_barrier: return fmt::format("B{}", operand.reg);
            case OperandKind::scoreboard: return fmt::format("SB{}", operand.reg);
            case OperandKind::scoreboard_set: return scoreboard_set(bits);
            case OperandKind::group_barrier: return fmt::format("gsb{}", operand.reg);
            case OperandKind::special: return special(operand.reg);
            case OperandKind::target:
                return signed_hex(static_cast<std::int64_t>(address_) + kInstructionBytes + operand.value);
            case OperandKind::displacement: return signed_hex(operand.value);
        }
        return "";
    }

    /// RCP64H and RSQ64H take the upper half of a double.
    [[nodiscard]] bool is_double_function() const {
        return instruction_.operation == Operation::MUFU &&
               text_of(Modifier::function, instruction_.value(Modifier::function)).ends_with("64H");
    }

    static std::string special(std::uint8_t number) {
        const auto name = special_register_text(number);
        return name.empty() ? fmt::format("SR{}", number) : std::string(name);
    }

    static std::string scoreboard_set(std::uint32_t bits) {
        std::string text;
        for (int i = 31; i >= 0; --i)
            if ((bits >> i & 1) != 0) text += fmt::format("{}{}", text.empty() ? "" : ",", i);
        return fmt::format("{{{}}}", text);
    }

    static std::string offset(const std::string& base, std::int64_t value) {
        if (value == 0 && !base.empty()) return base;
        return base.empty() ? signed_hex(value) : fmt::format("{}+{}", base, signed_hex(value));
    }

    [[nodiscard]] std::string constant(const Slot& slot, const Operand& operand) const {
        const std::string_view space = slot.suffixes.empty() ? "" : " ";
        if (operand.descriptor)
            return fmt::format("cx[{}]{}[{}]", uniform_text(operand.uniform), space, signed_hex(operand.value));
        std::string base;
        if (operand.has_uniform) base = uniform_text(operand.uniform);
        if (operand.has_reg && (operand.reg != kZeroRegister || operand.value == 0)) base = register_text(operand.reg);
        return fmt::format("c[{:#x}]{}[{}]", operand.bank, space, offset(base, operand.value));
    }

    [[nodiscard]] std::string memory(const Slot& slot, const Operand& operand) const {
        if (slot.reg.width == 0 && slot.field.low.width == 0)
            return fmt::format("{}[{}]", operand.descriptor ? "desc" : "", uniform_text(operand.uniform));
        const bool no_uniform = slot.optional_uniform && operand.uniform == kZeroUniformRegister;
        const bool uniform_term = operand.has_uniform && !operand.descriptor && !no_uniform;
        const auto scale = slot.address_scale < 0 ? std::string_view() : modifier_text(slot.address_scale);
        std::string base;
        const bool plain = operand.address_width == AddressWidth::natural && (scale.empty() || !uniform_term);
        const bool drop_zero = plain && operand.reg == kZeroRegister && (uniform_term || operand.value != 0);
        if (operand.has_reg && !drop_zero) {
            base = register_text(operand.reg);
            if (operand.address_width == AddressWidth::bits_64) base += ".64";
            if (operand.address_width == AddressWidth::unsigned_32) base += ".U32";
            if (!scale.empty() && !(plain && operand.reg == kZeroRegister)) base += fmt::format(".{}", scale);
        }
        if (uniform_term) base += fmt::format("{}{}", base.empty() ? "" : "+", uniform_text(operand.uniform));
        const std::string inner = base.empty() ? absolute(slot, operand.value) : offset(base, operand.value);
        if (!operand.descriptor || precedes_descriptors(*instruction_.form)) return fmt::format("[{}]", inner);
        return fmt::format("desc[{}][{}]", uniform_text(operand.uniform), inner);
    }

    /// An address without a register is printed as the bits of its field, but that of matrices and copies as a number.
    [[nodiscard]] std::string absolute(const Slot& slot, std::int64_t value) const {
        const auto operation = instruction_.operation;
        if (operation == Operation::LDSM || operation == Operation::STSM || operation == Operation::LDGSTS)
            return signed_hex(value);
        return fmt::format("{:#x}", static_cast<std::uint64_t>(value) & Word::ones(slot.field.width()));
    }

    const Instruction& instruction_;
    std::uint64_t address_;
};

/// IMAD is also the compiler's move, addition and shift; nvdisasm names these by their operands.
std::string_view idiom(const Instruction& instruction) {
    const auto& form = *instruction.form;
    if (instruction.operation != Operation::IMAD || (form.opcode & 0x1ff) != 0x24 || form.fixed_value.get({74, 1}) != 0)
        return "";
    const auto& a = instruction.operand_store[1];
    const auto& b = instruction.operand_store[2];
    const auto& c = instruction.operand_store[3];
    const auto zero = [](const Operand& operand) {
        return operand.kind == OperandKind::reg && operand.reg == kZeroRegister;
    };
    const bool uniform =
        b.kind == OperandKind::uniform || c.kind == OperandKind::uniform || b.descriptor || c.descriptor;
    if ((zero(a) || zero(b)) && !uniform) return ".MOV";
    if (b.kind != OperandKind::immediate) return "";
    if (b.value == 1) return ".IADD";
    constexpr std::int64_t kWidenBfloat = 0x10000;  // a conversion of bfloat16, which has no name
    const bool power_of_two =
        b.value > 0 && b.value != kWidenBfloat && std::has_single_bit(static_cast<std::uint64_t>(b.value));
    return zero(c) && !c.negate && power_of_two ? ".SHL" : "";
}

}  // namespace

std::string mnemonic_of(const Instruction& instruction) {
    const bool is_old_reduction = instruction.operation == Operation::REDG && precedes_descriptors(*instruction.form);
    std::string text(is_old_reduction ? "RED" : name_of(instruction.operation));
    text += idiom(instruction);
    for (const auto& suffix : instruction.form->suffixes) {
        if (suffix.modifier < 0) {
            text += suffix.literal;
            continue;
        }
        const auto i = static_cast<std::size_t>(suffix.modifier);
        const auto word = text_of(instruction.form->modifiers[i].modifier, instruction.modifier_values[i]);
        if (!word.empty()) text += fmt::format(".{}", word);
    }
    return text;
}

std::string text_of(const Instruction& instruction, std::uint64_t address) {
    return Printer(instruction, address).text();
}

}  // namespace gputomo::sass
