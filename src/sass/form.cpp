#include "sass/form.hpp"

#include "units/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <stdexcept>

namespace gputomo::sass {
namespace {

constexpr std::size_t kFormOpcodes = 1U << 12;
constexpr int kDestination = 16;  ///< first bit of the register that an instruction writes

// Source formats of the flexible operand.
constexpr int kRegisterFormat = 1;
constexpr BitRange kUniformSourceBit{91, 1};  ///< set where the instruction reads a uniform register
constexpr BitRange kConstantBank{54, 5};
constexpr BitRange kConstantOffset{38, 16};  ///< of a load, in bytes
constexpr BitRange kConstantWord{40, 14};    ///< of a flexible source, in words
constexpr int kWordBytes = 4;
constexpr std::uint8_t kAbsoluteBits = 47;  ///< upper bits of an absolute address, which has no sign

[[noreturn]] void broken(const Row& row, std::string_view word, std::string_view why) {
    throw std::logic_error(
        fmt::format("instruction table, {} {:#x}: '{}': {}", name_of(row.operation), row.opcode, word, why));
}

/// Takes characters from the front of a word of the table.
class Reader {
public:
    Reader(const Row& row, std::string_view word) : row_(row), whole_(word), rest_(word) {}
    [[nodiscard]] bool done() const { return rest_.empty(); }
    [[nodiscard]] bool take(std::string_view text) {
        if (!rest_.starts_with(text)) return false;
        rest_.remove_prefix(text.size());
        return true;
    }
    void expect(std::string_view text) {
        if (!take(text)) broken(row_, whole_, fmt::format("expected '{}' before '{}'", text, rest_));
    }
    [[nodiscard]] int number() {
        int value = 0;
        const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
        if (error != std::errc{}) broken(row_, whole_, fmt::format("expected a number before '{}'", rest_));
        rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
        return value;
    }
    [[nodiscard]] bool at_number() const { return !rest_.empty() && rest_[0] >= '0' && rest_[0] <= '9'; }
    [[nodiscard]] std::string_view name() {
        const auto end = std::ranges::find_if_not(
            rest_, [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; });
        const auto found = rest_.substr(0, static_cast<std::size_t>(end - rest_.begin()));
        rest_.remove_prefix(found.size());
        return found;
    }
    /// "75", "75:2" or "75:2+84:1"; `width` where the text gives none.
    [[nodiscard]] SplitField field(int width) {
        SplitField found{range(width), {}};
        const bool is_split = rest_.size() > 1 && rest_[0] == '+' && rest_[1] >= '0' && rest_[1] <= '9';
        if (is_split && take("+")) found.high = range(width);
        return found;
    }
    [[nodiscard]] std::string_view rest() const { return rest_; }
    [[nodiscard]] std::string_view whole() const { return whole_; }

private:
    BitRange range(int width) {
        const int first = number();
        if (take(":")) width = number();
        return {static_cast<std::uint8_t>(first), static_cast<std::uint8_t>(width)};
    }
    const Row& row_;
    std::string_view whole_;
    std::string_view rest_;
};

std::vector<std::string_view> split(std::string_view text, std::string_view separator) {
    std::vector<std::string_view> words;
    while (!text.empty()) {
        const auto end = std::min(text.find(separator), text.size());
        if (end > 0) words.push_back(text.substr(0, end));
        text.remove_prefix(std::min(end + separator.size(), text.size()));
    }
    return words;
}

/// Unpacks a row for one source format.
class Unpacker {
public:
    Unpacker(const Row& row, int format, bool bindless) : row_(row), format_(format), bindless_(bindless) {
        form_.row = &row;
        form_.facts = &facts_of(row);
        form_.operation = row.operation;
        form_.opcode = static_cast<std::uint16_t>(row.opcode | format << 9);
    }

    Form unpack() {
        fix({0, 12}, form_.opcode);
        for (const auto range :
             {kGuardPredicate, kGuardInvert, kStall, kStay, kWriteBarrier, kReadBarrier, kWait, kReuse})
            use(range);
        for (const auto word : split(row_.modifiers, " ")) modifier_word(word);
        for (const auto word : split(row_.operands, ", ")) operand_word(word);
        if (used_.get(kUniformSourceBit) == 0 && form_.fixed_mask.get(kUniformSourceBit) == 0)
            fix(kUniformSourceBit, reads_uniform_ ? 1 : 0);
        form_.fixed_mask = form_.fixed_mask | ~used_;
        form_.index_of.fill(-1);
        for (std::size_t i = 0; i < form_.modifiers.size(); ++i)
            form_.index_of[static_cast<std::size_t>(form_.modifiers[i].modifier)] = static_cast<std::int16_t>(i);
        if (form_.modifiers.size() > Instruction::kMaxModifiers || form_.slots.size() > Instruction::kMaxOperands)
            broken(row_, row_.operands, "more modifiers or operands than an instruction has room for");
        return std::move(form_);
    }

private:
    void use(BitRange range) {
        Word mask;
        mask.set(range, ~0ULL);
        used_ = used_ | mask;
    }
    void use(const SplitField& field) {
        use(field.low);
        use(field.high);
    }
    void fix(BitRange range, std::uint64_t value) {
        use(range);
        form_.fixed_mask.set(range, ~0ULL);
        form_.fixed_value.set(range, value);
    }

    void modifier_word(std::string_view word) {
        Reader reader(row_, word);
        if (reader.take("@UP")) {
            form_.uniform_guard = true;
        } else if (reader.take("=")) {
            const int value = reader.number();
            reader.expect("@");
            fix(reader.field(1).low, static_cast<std::uint64_t>(value));
        } else if (reader.take("-64@")) {
            negate_64_ = reader.field(1).low;
        } else if (reader.take("|64@")) {
            absolute_64_ = reader.field(1).low;
        } else if (word.starts_with('.')) {
            form_.suffixes.push_back({word, -1});
        } else {
            form_.suffixes.push_back({{}, modifier(reader)});
        }
    }

    /// "ftz@80"; returns its index.
    int modifier(Reader& reader) {
        const auto name = reader.name();
        for (int i = 0; i < static_cast<int>(Modifier::count); ++i) {
            const auto found = static_cast<Modifier>(i);
            if (name_of(found) != name) continue;
            reader.expect("@");
            return add(found, reader.field(width_of(found)));
        }
        broken(row_, name, "no such modifier");
    }
    int add(Modifier modifier, SplitField field) {
        if (field.width() != width_of(modifier)) broken(row_, name_of(modifier), "the width is not that of its texts");
        use(field);
        form_.modifiers.push_back({modifier, field});
        return static_cast<int>(form_.modifiers.size()) - 1;
    }

    void operand_word(std::string_view word) {
        Reader reader(row_, word);
        Slot slot;
        slot.joined = reader.take("_");
        const bool negated = reader.take("-");
        const bool complemented = reader.take("~");
        const bool absolute = reader.take("|");
        const bool inverted = reader.take("!");
        operand(reader, slot);
        if (slot.kind == OperandKind::reg || slot.kind == OperandKind::uniform || slot.kind == OperandKind::constant)
            sign(slot, negated, complemented, absolute);
        if (absolute) reader.expect("|");
        if (inverted) slot.invert = {static_cast<std::uint8_t>(slot.field.low.first + 3), 1};
        suffixes(reader, slot);
        slot.optional = reader.take("?");
        if (!reader.done()) broken(row_, word, fmt::format("'{}' is left over", reader.rest()));
        finish(slot, word);
    }

    /// The reuse cache has a place for each of the three sources, wherever their numbers are in the instruction.
    [[nodiscard]] BitRange reuse_bit(std::string_view name, int first) const {
        constexpr BitRange kFirst{122, 1};
        constexpr BitRange kSecond{123, 1};
        constexpr BitRange kThird{124, 1};
        const bool source_is_third = row_.formats.find_first_of("237") != std::string_view::npos;
        const auto letter = name.find_first_not_of("_-~|!U");
        if (name[letter] == 'C') return kThird;
        if (name[letter] == 'B') return kSecond;
        if (name[letter] == 'S') return source_is_third ? kThird : kSecond;
        if (first == 24) return kFirst;
        if (first == 32) return kSecond;
        if (first == 64) return kThird;
        return {};
    }

    void finish(Slot& slot, std::string_view name) {
        for (const auto range : {slot.negate, slot.absolute, slot.invert, slot.reg, slot.uniform, slot.bank})
            use(range);
        use(slot.field);
        const bool uniform_source = slot.kind == OperandKind::uniform && slot.field.low.first != kDestination;
        reads_uniform_ = reads_uniform_ || uniform_source || slot.uniform.width > 0;
        if (slot.kind == OperandKind::reg) slot.reuse = reuse_bit(name, slot.field.low.first);
        count_results(slot);
        form_.slots.push_back(std::move(slot));
    }

    void count_results(const Slot& slot) {
        const bool value = slot.kind == OperandKind::reg || slot.kind == OperandKind::uniform;
        const bool predicate = slot.kind == OperandKind::predicate || slot.kind == OperandKind::uniform_predicate;
        if (value && slot.field.low.first == kDestination) form_.writes_value = true;
        if (predicate && slot.invert.width == 0) ++form_.written_predicates;
    }

    /// Bits that change the sign and take the absolute value of what is at a place.
    void sign(Slot& slot, bool negated, bool complemented, bool absolute) const {
        const int first = slot.kind == OperandKind::constant ? 32 : slot.field.low.first;
        const BitRange negate = first == 24 ? BitRange{72, 1} : first == 32 ? BitRange{63, 1} : negate_64_;
        const BitRange magnitude = first == 24 ? BitRange{73, 1} : first == 32 ? BitRange{62, 1} : absolute_64_;
        if (negated) slot.negate = negate;
        if (complemented) slot.invert = negate;
        if (absolute) slot.absolute = magnitude;
    }

    void suffixes(Reader& reader, Slot& slot) {
        while (reader.take(".")) {
            if (reader.take("SIGN")) {
                slot.sign = true;
                continue;
            }
            const bool is_signed = reader.take("signed_half");
            if (!is_signed && !reader.take("half")) {
                add_suffix(reader, slot);
                continue;
            }
            if (slot.kind == OperandKind::f16x2) continue;
            if (is_signed) {
                const BitRange range{static_cast<std::uint8_t>(slot.field.low.first == 64 ? 81 : 60), 2};
                slot.suffixes.push_back(add(Modifier::signed_half_b, {range, {86, 1}}));
                continue;
            }
            const int first = slot.kind == OperandKind::constant ? 32 : slot.field.low.first;
            const auto which = first == 24 ? Modifier::half_a : first == 32 ? Modifier::half_b : Modifier::half_c;
            const BitRange range{static_cast<std::uint8_t>(first == 24 ? 74 : first == 32 ? 60 : 81), 2};
            slot.suffixes.push_back(add(which, {range, {}}));
        }
    }

    /// Immediates have no modifiers: their bits are part of the number.
    void add_suffix(Reader& reader, Slot& slot) {
        if (slot.kind != OperandKind::immediate) {
            slot.suffixes.push_back(modifier(reader));
            return;
        }
        static_cast<void>(reader.name());
        reader.expect("@");
        static_cast<void>(reader.field(0));
    }

    static Slot plain(OperandKind kind, int first, int width) {
        Slot slot;
        slot.kind = kind;
        slot.field.low = {static_cast<std::uint8_t>(first), static_cast<std::uint8_t>(width)};
        return slot;
    }
    static Slot reg(int first) { return plain(OperandKind::reg, first, 8); }
    static Slot uniform(int first) { return plain(OperandKind::uniform, first, 6); }

    void assign(Slot& slot, Slot from) const {
        from.joined = slot.joined;
        slot = std::move(from);
    }

    void operand(Reader& reader, Slot& slot) {
        if (reader.take(":")) {
            slot.suffixes.push_back(modifier(reader));
        } else if (reader.take("PR") || reader.take("UPR")) {
            slot.kind = OperandKind::all_predicates;
            slot.descriptor = row_.operands.find("UPR") != std::string_view::npos;
        } else if (reader.take("gdesc[")) {
            assign(slot, plain(OperandKind::matrix_descriptor, uniform_bit(reader), 6));
            slot.uniform = slot.field.low;
            reader.expect("]");
        } else if (reader.take("desc[")) {
            slot.uniform = {static_cast<std::uint8_t>(uniform_bit(reader)), 6};
            slot.descriptor = true;
            reader.expect("]");
            slot.kind = OperandKind::memory;
            if (reader.take("[")) address(reader, slot);
        } else if (reader.take("c[")) {
            slot.kind = OperandKind::constant;
            slot.bank = kConstantBank;
            slot.field.low = kConstantOffset;
            slot.is_signed = true;
            if (reader.take("ua"))
                slot.uniform = {24, 6};
            else if (reader.take("a"))
                slot.reg = {24, 8};
            reader.expect("]");
        } else if (reader.take("[")) {
            slot.kind = OperandKind::memory;
            address(reader, slot);
        } else if (reader.take("bar")) {
            assign(slot, plain(OperandKind::convergence_barrier, reader.number(), 4));
        } else if (reader.take("gsb")) {
            assign(slot, plain(OperandKind::group_barrier, reader.number(), 3));
        } else if (reader.take("sb")) {
            assign(slot, plain(OperandKind::scoreboard, reader.number(), 3));
        } else if (reader.take("set")) {
            slot.kind = OperandKind::scoreboard_set;
            slot.field = reader.field(6);
        } else if (reader.take("sr")) {
            assign(slot, plain(OperandKind::special, reader.number(), 8));
        } else if (reader.take("up")) {
            assign(slot, plain(OperandKind::uniform_predicate, reader.number(), 3));
        } else if (reader.take("uq")) {
            assign(slot, plain(OperandKind::uniform_predicate, reader.number(), 3));
            stored_complemented(slot);
        } else if (reader.take("p")) {
            assign(slot, plain(OperandKind::predicate, reader.number(), 3));
        } else if (reader.take("q")) {
            assign(slot, plain(OperandKind::predicate, reader.number(), 3));
            stored_complemented(slot);
        } else if (reader.take("t")) {
            slot.kind = OperandKind::target;
            distance(reader, slot);
        } else if (reader.take("e")) {
            slot.kind = OperandKind::target;
            distance(reader, slot);
            slot.scale = 1;
        } else if (reader.take("o")) {
            slot.kind = OperandKind::displacement;
            distance(reader, slot);
        } else if (reader.take("w")) {
            slot.kind = OperandKind::displacement;
            distance(reader, slot);
            slot.is_signed = false;
            slot.field.high.width = kAbsoluteBits;
        } else {
            value_operand(reader, slot);
        }
    }

    static void stored_complemented(Slot& slot) {
        slot.complemented = true;
        slot.invert = {static_cast<std::uint8_t>(slot.field.low.first + 3), 1};
    }

    static void distance(Reader& reader, Slot& slot) {
        slot.is_signed = true;
        slot.scale = kWordBytes;
        if (reader.at_number())
            slot.field = reader.field(0);
        else
            slot.field = {{16, 8}, {34, 48}};
    }

    void value_operand(Reader& reader, Slot& slot) {
        const bool is_signed = reader.take("s");
        if (is_signed || reader.take("i")) {
            slot.is_signed = is_signed;
            slot.kind = OperandKind::immediate;
            slot.field = reader.field(1);
            return;
        }
        const bool uniforms = reader.rest().starts_with('U');
        if (uniforms) reader.expect("U");
        const bool source_is_second = format_ == 1 || format_ >= 4;
        const bool b_is_source = source_is_second && format_ != 7;
        if (reader.take("S")) {
            assign(slot, source(reader, uniforms));
        } else if (reader.take("B")) {
            b_is_source ? assign(slot, source(reader, uniforms)) : other(reader, slot, uniforms);
        } else if (reader.take("C")) {
            b_is_source ? other(reader, slot, uniforms) : assign(slot, source(reader, uniforms));
        } else if (reader.rest().starts_with('u')) {
            assign(slot, uniform(uniform_bit(reader)));
        } else {
            assign(slot, reg(register_bit(reader)));
        }
    }

    /// The operand at bit 64 of an instruction whose second or third operand is flexible.
    void other(Reader& reader, Slot& slot, bool uniforms) const {
        reader.expect(":");
        static_cast<void>(reader.name());
        assign(slot, uniforms ? uniform(64) : reg(64));
    }

    Slot source(Reader& reader, bool uniforms) {
        reader.expect(":");
        const auto kind = reader.name();
        switch (format_) {
            case kRegisterFormat: return uniforms ? uniform(32) : reg(32);
            case 2:
            case 4: return immediate(kind);
            case 3:
            case 5: return constant();
            default: return uniform(32);
        }
    }

    [[nodiscard]] Slot constant() const {
        Slot slot;
        slot.kind = OperandKind::constant;
        slot.bank = kConstantBank;
        slot.field.low = kConstantWord;
        slot.scale = kWordBytes;
        slot.is_signed = true;
        if (bindless_) {
            slot.bank = {};
            slot.is_signed = false;
            slot.uniform = {32, 6};
            slot.descriptor = true;
        }
        return slot;
    }

    [[nodiscard]] Slot immediate(std::string_view kind) const {
        if (kind == "f") return plain(OperandKind::f32, 32, 32);
        if (kind == "d") return plain(OperandKind::f64, 32, 32);
        if (kind == "h") return plain(OperandKind::f16x2, 32, 32);
        if (kind != "s" && kind != "u") broken(row_, kind, "expected f, d, h, s or u");
        Slot slot = plain(OperandKind::immediate, 32, 32);
        slot.is_signed = kind == "s";
        return slot;
    }

    int register_bit(Reader& reader) const {
        if (reader.take("r")) return reader.number();
        if (reader.take("d")) return kDestination;
        if (reader.take("a")) return 24;
        if (reader.take("b")) return 32;
        if (reader.take("c")) return 64;
        broken(row_, reader.whole(), "no such operand");
    }
    int uniform_bit(Reader& reader) const {
        reader.expect("u");
        return reader.at_number() ? reader.number() : register_bit(reader);
    }

    /// "a.64+ub+s40:24]"
    void address(Reader& reader, Slot& slot) {
        do {
            if (reader.rest().starts_with('u')) {
                slot.uniform = {static_cast<std::uint8_t>(uniform_bit(reader)), 6};
                slot.optional_uniform = reader.take("?");
            } else if (reader.take("s")) {
                slot.field = reader.field(0);
                slot.is_signed = true;
            } else {
                slot.reg = {static_cast<std::uint8_t>(register_bit(reader)), 8};
                if (reader.take(".64"))
                    slot.address_width = AddressWidth::bits_64;
                else if (reader.take(".U32"))
                    slot.address_width = AddressWidth::unsigned_32;
                else if (reader.take("."))
                    slot.address_scale = modifier(reader);
            }
        } while (reader.take("+"));
        reader.expect("]");
    }

    const Row& row_;
    int format_;
    bool bindless_;
    Form form_;
    Word used_;
    bool reads_uniform_ = false;
    BitRange negate_64_{75, 1};
    BitRange absolute_64_{74, 1};
};

class Forms {
public:
    Forms() {
        for (const Row& row : rows())
            for (const char digit : row.formats) {
                const int format = digit - '0';
                forms_.push_back(Unpacker(row, format, false).unpack());
                if (has_constant_source(forms_.back())) forms_.push_back(Unpacker(row, format, true).unpack());
            }
        std::ranges::stable_sort(forms_, {}, &Form::opcode);
        for (std::size_t i = 0; i < forms_.size(); ++i) {
            auto& range = ranges_[forms_[i].opcode];
            if (range.count == 0) range.first = static_cast<std::uint32_t>(i);
            ++range.count;
        }
    }
    [[nodiscard]] std::span<const Form> of(std::uint16_t opcode) const {
        const auto range = ranges_[opcode % kFormOpcodes];
        return std::span(forms_).subspan(range.first, range.count);
    }
    [[nodiscard]] std::span<const Form> all() const { return forms_; }

private:
    /// Whether its flexible operand is a constant, which may be bindless.
    static bool has_constant_source(const Form& form) {
        return std::ranges::any_of(form.slots, [](const Slot& slot) {
            return slot.kind == OperandKind::constant && slot.scale == kWordBytes;
        });
    }
    struct Range {
        std::uint32_t first = 0;
        std::uint32_t count = 0;
    };
    std::vector<Form> forms_;
    std::array<Range, kFormOpcodes> ranges_{};
};

const Forms& forms() {
    static const Forms unpacked;
    return unpacked;
}

}  // namespace

std::span<const Form> forms_of(std::uint16_t opcode) { return forms().of(opcode); }
std::span<const Form> all_forms() { return forms().all(); }

bool writes(Operation operation) {
    bool known = false;
    for (const Form& form : all_forms()) {
        if (form.operation != operation) continue;
        known = true;
        if (form.writes_value || form.written_predicates > 0) return true;
    }
    return !known;
}

}  // namespace gputomo::sass
