#include "ptx/instructions.hpp"

#include "ptx/names.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <variant>

namespace gputomo::ptx {
namespace {

/// Splits at `separator`; an empty text has no pieces.
std::vector<std::string_view> split(std::string_view text, char separator) {
    std::vector<std::string_view> parts;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find(separator), text.size());
        parts.push_back(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return parts;
}

bool contains(std::string_view list, char separator, std::string_view word) {
    while (!list.empty()) {
        const std::size_t end = std::min(list.find(separator), list.size());
        if (list.substr(0, end) == word) return true;
        list.remove_prefix(std::min(end + 1, list.size()));
    }
    return false;
}

struct Slot {
    std::string_view choices;
    bool optional = false;
};

/// Calls visit(slot) for each suffix position until it returns false; true when all were visited.
template <class Visit>
bool for_each_slot(const Form& form, Visit visit) {
    std::string_view rest = form.suffixes;
    while (!rest.empty()) {
        const std::size_t end = std::min(rest.find(' '), rest.size());
        Slot slot{rest.substr(0, end), false};
        if (slot.choices.ends_with('?')) {
            slot.optional = true;
            slot.choices.remove_suffix(1);
        }
        if (!visit(slot)) return false;
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    return true;
}

std::uint8_t vector_width_named(std::string_view suffix) {
    if (suffix == "v2") return 2;
    if (suffix == "v4") return 4;
    if (suffix == "v8") return 8;
    return 1;
}

/// Stores `suffix` in the instruction if it matches `slot`; otherwise returns false.
bool accept(const Form& form, const Slot& slot, std::string_view suffix, Instruction& instruction) {
    if (slot.choices == "T" || slot.choices == "S") {
        const bool first = slot.choices == "T";
        if (!contains(first ? form.types : form.source_types, ' ', suffix)) return false;
        (first ? instruction.type : instruction.source_type) = *type_named(suffix);
        return true;
    }
    if (slot.choices == "SP") {
        const auto space = space_named(suffix);
        if (!space || *space == Space::reg) return false;
        instruction.space = *space;
        return true;
    }
    if (slot.choices == "V") {
        instruction.vector_width = vector_width_named(suffix);
        return instruction.vector_width != 1;
    }
    if (!contains(slot.choices, '|', suffix)) return false;
    instruction.modifiers.emplace_back(suffix);
    return true;
}

std::optional<Instruction> match_form(const Form& form, std::span<const std::string_view> suffixes) {
    Instruction instruction;
    instruction.opcode = form.opcode;
    const bool fits = for_each_slot(form, [&](const Slot& slot) {
        if (!suffixes.empty() && accept(form, slot, suffixes.front(), instruction)) {
            suffixes = suffixes.subspan(1);
            return true;
        }
        return slot.optional;
    });
    if (!fits || !suffixes.empty()) return std::nullopt;
    const bool generic = instruction.space == Space::none && form.suffixes.find("SP?") != std::string_view::npos;
    if (generic) instruction.space = Space::generic;
    if (instruction.source_type == Type::none) instruction.source_type = instruction.type;
    return instruction;
}

/// The suffixes of `instruction` in this form; nullopt if it does not match the form.
std::optional<std::string> render(const Form& form, const Instruction& instruction) {
    std::string text{name_of(instruction.opcode)};
    std::size_t next = 0;
    bool space_written = instruction.space == Space::none || instruction.space == Space::generic;
    bool width_written = instruction.vector_width == 1;
    const auto append = [&text](std::string_view suffix) {
        text += '.';
        text += suffix;
        return true;
    };
    const bool fits = for_each_slot(form, [&](const Slot& slot) {
        if (slot.choices == "T")
            return contains(form.types, ' ', name_of(instruction.type)) && append(name_of(instruction.type));
        if (slot.choices == "S")
            return contains(form.source_types, ' ', name_of(instruction.source_type)) &&
                   append(name_of(instruction.source_type));
        if (slot.choices == "SP") {
            if (space_written) return slot.optional;
            space_written = true;
            return append(name_of(instruction.space));
        }
        if (slot.choices == "V") {
            if (width_written) return slot.optional;
            width_written = true;
            return append(fmt::format("v{}", instruction.vector_width));
        }
        if (next < instruction.modifiers.size() && contains(slot.choices, '|', instruction.modifiers[next]))
            return append(instruction.modifiers[next++]);
        return slot.optional;
    });
    if (!fits || next != instruction.modifiers.size() || !space_written || !width_written) return std::nullopt;
    return text;
}

/// Whether a register may hold an operand, by the table of operand agreement (PTX ISA 9.2). Bit types agree with any
/// type of their size, and integers of one size with each other. Data of 8 bits live in wider registers, which loads,
/// stores and conversions may use (9.4.1).
bool agree(Type asked, Type have, bool may_be_wider) {
    if (asked == Type::pred || have == Type::pred) return asked == have;
    const auto asked_size = size_of(asked);
    const auto have_size = size_of(have);
    if (have_size < asked_size) return false;
    if (have_size > asked_size) return may_be_wider && !is_float(have) && (!is_float(asked) || is_bits(have));
    if (is_bits(asked) || is_bits(have)) return true;
    return is_float(asked) ? asked == have : !is_float(have);
}

Type double_width(Type type) {
    switch (type) {
        case Type::u16: return Type::u32;
        case Type::s16: return Type::s32;
        case Type::u32: return Type::u64;
        case Type::s32: return Type::s64;
        default: return Type::none;
    }
}

/// ptxas takes the order, the scope and the space of atomics in any sequence, and Triton writes the space first. The
/// table has them as the PTX ISA does.
void order_qualifiers(std::vector<std::string_view>& parts) {
    const auto rank = [](std::string_view part) {
        if (contains("relaxed|acquire|release|acq_rel", '|', part)) return 1;
        if (contains("cta|cluster|gpu|sys", '|', part)) return 2;
        return space_named(part) ? 3 : 4;
    };
    std::ranges::stable_sort(parts.begin() + 1, parts.end(), {}, rank);
}

struct Checker {
    const Instruction& instruction;
    std::span<const RegisterInfo> registers;

    [[nodiscard]] std::optional<std::string> check(const OperandRule& rule, const Operand& operand) const {
        if (rule.type == "[]") return address(operand);
        if (rule.type == "L") return expect(std::holds_alternative<SymbolRef>(operand.value), "a label");
        if (rule.type == "v") return expect(std::holds_alternative<VectorRef>(operand.value), "a vector");
        const bool is_vector = std::holds_alternative<VectorRef>(operand.value);
        if (rule.type == "M") return is_vector ? packed(operand) : movable(rule, operand);
        if (rule.type == "C" && is_vector) return elements(rule, std::get<VectorRef>(operand.value));
        if (rule.type == "V" && instruction.vector_width > 1) {
            const auto* vector = std::get_if<VectorRef>(&operand.value);
            if (!vector || vector->elements.size() != instruction.vector_width)
                return fmt::format("expected a vector of {} elements", instruction.vector_width);
            return elements(rule, *vector);
        }
        return scalar(rule, operand);
    }

private:
    static std::optional<std::string> expect(bool holds, std::string_view what) {
        if (holds) return std::nullopt;
        return fmt::format("expected {}", what);
    }

    [[nodiscard]] std::optional<std::string> address(const Operand& operand) const {
        const auto* a = std::get_if<AddressRef>(&operand.value);
        if (!a) return "expected an address in brackets";
        const auto* base = std::get_if<Register>(&a->base);
        if (!base) return std::nullopt;
        const Type type = registers[base->index].type;
        return expect(agree(Type::b32, type, false) || agree(Type::b64, type, false),
                      fmt::format("an address register of 32 or 64 bits, not {} of type {}",
                                  registers[base->index].name, name_of(type)));
    }

    [[nodiscard]] std::optional<std::string> movable(const OperandRule& rule, const Operand& operand) const {
        if (!rule.destination && (std::holds_alternative<SymbolRef>(operand.value) ||
                                  std::holds_alternative<SpecialRegister>(operand.value)))
            return expect(instruction.type != Type::pred, "a predicate");
        return scalar(rule, operand);
    }

    /// mov.b64 {a, b}, c: the elements are of one size and fill the type.
    [[nodiscard]] std::optional<std::string> packed(const Operand& operand) const {
        const auto& vector = std::get<VectorRef>(operand.value);
        Bytes total{0};
        for (const Operand& element : vector.elements) {
            const auto* reg = std::get_if<Register>(&element.value);
            if (!reg && !std::holds_alternative<SinkRef>(element.value)) return "expected a vector of registers";
            if (reg) total += size_of(registers[reg->index].type);
        }
        const bool has_sink = std::ranges::any_of(
            vector.elements, [](const Operand& e) { return std::holds_alternative<SinkRef>(e.value); });
        return expect(!vector.elements.empty() &&
                          (has_sink ? total < size_of(instruction.type) : total == size_of(instruction.type)),
                      fmt::format("a vector that makes up {} bytes", size_of(instruction.type).count()));
    }

    [[nodiscard]] std::optional<std::string> elements(const OperandRule& rule, const VectorRef& vector) const {
        if (vector.elements.empty()) return "expected a vector with elements";
        for (const Operand& element : vector.elements)
            if (auto fault = scalar(rule, element)) return fault;
        return std::nullopt;
    }

    [[nodiscard]] std::optional<std::string> scalar(const OperandRule& rule, const Operand& operand) const {
        const Type asked = required_type(rule, instruction);
        if (const auto* reg = std::get_if<Register>(&operand.value)) {
            const RegisterInfo& info = registers[reg->index];
            const bool fits = rule.type == "A"
                                  ? agree(Type::b32, info.type, false) || agree(Type::b64, info.type, false)
                                  : agree(asked, info.type, rule.may_be_wider);
            return expect(fits, fmt::format("{}, not {} of type {}", rule.type == "A" ? "u32 or u64" : name_of(asked),
                                            info.name, name_of(info.type)));
        }
        if (std::holds_alternative<SinkRef>(operand.value))
            return expect(rule.destination || instruction.vector_width > 1, "a value, not '_'");
        if (rule.destination) return "expected a register";
        if (std::holds_alternative<PredicateRef>(operand.value))
            return expect(asked == Type::pred, fmt::format("{}, not a predicate", name_of(asked)));
        if (const auto* immediate = std::get_if<Immediate>(&operand.value)) {
            if (immediate->is_float)
                return expect(size_of(asked) >= Bytes{4} && (is_float(asked) || is_bits(asked)),
                              fmt::format("{}, not a floating-point number", name_of(asked)));
            return expect(!is_float(asked) || asked == Type::f16 || asked == Type::f16x2,
                          fmt::format("a floating-point number for {}", name_of(asked)));
        }
        return fmt::format("expected a register or a number of type {}", name_of(asked));
    }
};

std::optional<std::string> count_fault(std::span<const OperandRule> rules, const Instruction& instruction) {
    std::size_t destinations = 0;
    std::size_t extra = 0;
    std::size_t required = 0;
    std::size_t sources = 0;
    for (const OperandRule& rule : rules) {
        if (rule.destination) {
            ++destinations;
            extra += rule.optional_second ? 1 : 0;
        } else {
            ++sources;
            required += rule.optional ? 0 : 1;
        }
    }
    const std::size_t have_destinations = instruction.destinations.size();
    const std::size_t have_sources = instruction.sources.size();
    if (have_destinations >= destinations && have_destinations <= destinations + extra && have_sources >= required &&
        have_sources <= sources)
        return std::nullopt;
    return fmt::format("takes {} operands, not {}",
                       required == sources ? fmt::format("{}", destinations + sources)
                                           : fmt::format("{} to {}", destinations + required, destinations + sources),
                       have_destinations + have_sources);
}

}  // namespace

std::span<const Form> forms_of(Opcode opcode) {
    const auto table = instruction_table();
    const auto first = std::lower_bound(table.begin(), table.end(), opcode,
                                        [](const Form& form, Opcode o) { return form.opcode < o; });
    const auto last =
        std::upper_bound(first, table.end(), opcode, [](Opcode o, const Form& form) { return o < form.opcode; });
    return {first, last};
}

std::vector<OperandRule> operand_rules(const Form& form) {
    std::vector<OperandRule> rules;
    for (std::string_view token : split(form.operands, ' ')) {
        OperandRule rule;
        if (token.starts_with('>')) {
            rule.destination = true;
            token.remove_prefix(1);
        }
        if (token.ends_with("|P?")) {
            rule.optional_second = true;
            token.remove_suffix(3);
        }
        if (token.ends_with('?')) {
            rule.optional = true;
            token.remove_suffix(1);
        }
        if (token.ends_with('~')) {
            rule.may_be_wider = true;
            token.remove_suffix(1);
        }
        rule.type = token;
        rules.push_back(rule);
    }
    return rules;
}

std::optional<Lookup> look_up(std::string_view mnemonic) {
    auto parts = split(mnemonic, '.');
    if (parts.empty() || mnemonic.ends_with('.')) return std::nullopt;
    const auto opcode = opcode_named(parts.front());
    if (!opcode) return std::nullopt;
    if (*opcode == Opcode::atom || *opcode == Opcode::red) order_qualifiers(parts);
    for (const Form& form : forms_of(*opcode))
        if (auto instruction = match_form(form, std::span(parts).subspan(1)))
            return Lookup{&form, std::move(*instruction)};
    return std::nullopt;
}

std::string why_unknown(std::string_view mnemonic) {
    const auto parts = split(mnemonic, '.');
    const auto opcode = parts.empty() ? std::nullopt : opcode_named(parts.front());
    if (!opcode) return fmt::format("unknown instruction '{}'; expected a PTX instruction", mnemonic);
    std::string known;
    std::string_view last;
    for (const Form& form : forms_of(*opcode)) {
        if (form.suffixes == last && !known.empty()) continue;
        last = form.suffixes;
        known += fmt::format("{}'{}{}{}'{}", known.empty() ? "" : ", ", parts.front(), form.suffixes.empty() ? "" : " ",
                             form.suffixes, form.types.empty() ? "" : fmt::format(" with T one of {}", form.types));
    }
    return fmt::format("unknown instruction '{}'; expected {}", mnemonic, known);
}

const Form* form_of(const Instruction& instruction) {
    for (const Form& form : forms_of(instruction.opcode))
        if (render(form, instruction)) return &form;
    return nullptr;
}

std::string mnemonic_of(const Instruction& instruction) {
    for (const Form& form : forms_of(instruction.opcode))
        if (auto text = render(form, instruction)) return *text;
    return std::string{name_of(instruction.opcode)};
}

Type required_type(const OperandRule& rule, const Instruction& instruction) {
    if (rule.type == "T" || rule.type == "V" || rule.type == "M") return instruction.type;
    if (rule.type == "S" || rule.type == "C") return instruction.source_type;
    if (rule.type == "W") return double_width(instruction.type);
    if (rule.type == "P") return Type::pred;
    return type_named(rule.type).value_or(Type::none);
}

std::optional<std::string> operand_fault(const Form& form, const Instruction& instruction,
                                         std::span<const RegisterInfo> registers) {
    if (form.operands == "call") return std::nullopt;
    const auto rules = operand_rules(form);
    if (auto fault = count_fault(rules, instruction)) return fault;
    const Checker checker{instruction, registers};
    const OperandRule second{.type = "P", .destination = true};
    std::size_t destination = 0;
    std::size_t source = 0;
    std::size_t position = 0;
    for (const OperandRule& rule : rules) {
        if (!rule.destination && source == instruction.sources.size()) break;
        const Operand& operand =
            rule.destination ? instruction.destinations[destination++] : instruction.sources[source++];
        ++position;
        if (auto fault = checker.check(rule, operand)) return fmt::format("operand {}: {}", position, *fault);
        if (rule.optional_second && destination < instruction.destinations.size())
            if (auto fault = checker.check(second, instruction.destinations[destination++]))
                return fmt::format("second destination: {}", *fault);
    }
    return std::nullopt;
}

std::optional<std::string> operand_fault(const Instruction& instruction, std::span<const RegisterInfo> registers) {
    std::optional<std::string> first_fault;
    for (const Form& form : forms_of(instruction.opcode)) {
        if (!render(form, instruction)) continue;
        auto fault = operand_fault(form, instruction, registers);
        if (!fault) return std::nullopt;
        if (!first_fault) first_fault = std::move(fault);
    }
    return first_fault ? first_fault : std::optional<std::string>{"is not a known instruction"};
}

}  // namespace gputomo::ptx
