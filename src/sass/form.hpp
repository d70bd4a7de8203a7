// The rows of the instruction table, unpacked: which bits of an instruction hold what.
#pragma once

#include "sass/instruction.hpp"
#include "sass/table.hpp"
#include "sass/word.hpp"

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gputomo::sass {

/// A number that is spread over two places of the instruction, the lowest bits first.
struct SplitField {
    BitRange low;
    BitRange high;  ///< width 0 where the number is in one place
    [[nodiscard]] std::uint64_t get(const Word& word) const {
        return word.get(low) | (high.width == 0 ? 0 : word.get(high) << low.width);
    }
    void set(Word& word, std::uint64_t value) const {
        word.set(low, value);
        if (high.width != 0) word.set(high, value >> low.width);
    }
    [[nodiscard]] int width() const { return low.width + high.width; }
};

struct ModifierField {
    Modifier modifier{};
    SplitField field;
};

/// Where an operand is and what is printed around it.
struct Slot {
    OperandKind kind = OperandKind::none;
    SplitField field;  ///< register number, immediate, offset or distance
    BitRange reg;      ///< register of an address; register of c[bank][reg + offset]
    BitRange uniform;  ///< uniform register of an address
    BitRange bank;     ///< of a constant
    BitRange negate, absolute, invert, reuse;
    AddressWidth address_width = AddressWidth::natural;
    bool descriptor = false;
    bool is_signed = false;
    bool complemented = false;      ///< the predicate is stored complemented: 0 means PT
    bool sign = false;              ///< the operand is a register's sign bit
    bool optional_uniform = false;  ///< the uniform register of an address is not printed where it is URZ
    bool optional = false;          ///< not printed where it is RZ, PT or 0
    bool joined = false;            ///< a space instead of a comma stands before it
    int scale = 1;                  ///< a step of the field, in bytes
    std::vector<int> suffixes;      ///< indices of the modifiers that are printed after it
    int address_scale = -1;         ///< index of the modifier that is printed after the register of an address
};

/// A piece of the text after the operation's name.
struct Suffix {
    std::string_view literal;
    int modifier = -1;  ///< index into Form::modifiers
};

struct Form {
    const Row* row = nullptr;
    const Facts* facts = nullptr;
    Operation operation{};
    std::uint16_t opcode = 0;  ///< bits 0 to 11
    Word fixed_mask;           ///< bits that this form determines, and those that it does not use
    Word fixed_value;
    bool uniform_guard = false;
    std::vector<Suffix> suffixes;
    std::vector<ModifierField> modifiers;
    std::vector<Slot> slots;
    int written_predicates = 0;  ///< how many of the predicates are results; they stand before those that are read
    bool writes_value = false;   ///< the first register is a result
    /// Index of a modifier in `modifiers`; -1 where the form does not have it.
    std::array<std::int16_t, static_cast<std::size_t>(Modifier::count)> index_of{};
};

/// All forms with these bits 0 to 11.
[[nodiscard]] std::span<const Form> forms_of(std::uint16_t opcode);
[[nodiscard]] std::span<const Form> all_forms();

/// Whether an instruction of the operation can write a register or a predicate. True where no encoding is known.
[[nodiscard]] bool writes(Operation operation);

/// Bits that hold the guard and the control fields, which every instruction has.
inline constexpr BitRange kGuardPredicate{12, 3};
inline constexpr BitRange kGuardInvert{15, 1};
inline constexpr BitRange kStall{105, 4};
inline constexpr BitRange kStay{109, 1};
inline constexpr BitRange kWriteBarrier{110, 3};
inline constexpr BitRange kReadBarrier{113, 3};
inline constexpr BitRange kWait{116, 6};
inline constexpr BitRange kReuse{122, 3};

}  // namespace gputomo::sass
