// One decoded machine instruction: plain data that a simulator can execute without comparing strings.
#pragma once

#include "sass/modifiers.hpp"
#include "sass/operations.hpp"

#include <array>
#include <cstdint>
#include <span>

namespace gputomo::sass {

struct Form;

inline constexpr std::uint8_t kZeroRegister = 255;
inline constexpr std::uint8_t kZeroUniformRegister = 63;
inline constexpr std::uint8_t kTruePredicate = 7;
/// Scoreboards of a warp, SB0 to SB5, that control fields name as dependence barriers.
inline constexpr std::uint8_t kScoreboards = 6;
inline constexpr std::uint8_t kNoBarrier = 7;
inline constexpr int kInstructionBytes = 16;

enum class OperandKind : std::uint8_t {
    none,                 ///< a modifier that is printed among the operands
    reg,                  ///< R0 to R254; 255 is RZ
    uniform,              ///< UR0 to UR62; 63 is URZ
    predicate,            ///< P0 to P6; 7 is PT
    uniform_predicate,    ///< UP0 to UP6; 7 is UPT
    all_predicates,       ///< PR or UPR: the predicates as one word
    immediate,            ///< an integer, in `value`
    f32,                  ///< the bits of a float, in `value`
    f64,                  ///< the upper 32 bits of a double, in `value`; the lower ones are zero
    f16x2,                ///< two half-precision numbers (or bfloat16, by the instruction's modifiers)
    constant,             ///< c[bank][value + reg]; cx[uniform][value] where the bank is bindless
    memory,               ///< [reg + uniform + value], perhaps with a descriptor in `uniform`
    matrix_descriptor,    ///< gdesc[uniform]
    convergence_barrier,  ///< B0 to B15
    scoreboard,           ///< SB0 to SB5
    scoreboard_set,       ///< {0,2}: one bit a scoreboard
    group_barrier,        ///< gsb0
    special,              ///< a special register, by number
    target,               ///< a code address: bytes from the end of this instruction, in `value`
    displacement          ///< bytes that an indirect branch adds to its register, in `value`
};

/// How the register of an address is read.
enum class AddressWidth : std::uint8_t { natural, bits_64, unsigned_32 };

struct Operand {
    std::int64_t value = 0;
    OperandKind kind = OperandKind::none;
    std::uint8_t reg = kZeroRegister;  ///< number of the register, predicate, barrier or special register
    std::uint8_t uniform = kZeroUniformRegister;
    std::uint8_t bank = 0;
    bool has_reg : 1 = false;      ///< of a memory or constant operand: `reg` is part of the address
    bool has_uniform : 1 = false;  ///< of a memory or constant operand: `uniform` is part of it
    bool descriptor : 1 = false;   ///< `uniform` names a memory descriptor and is not added to the address
    bool negate : 1 = false;
    bool invert : 1 = false;  ///< bitwise complement of a register, logical complement of a predicate
    bool absolute : 1 = false;
    bool reuse : 1 = false;  ///< marked for the operand reuse cache
    AddressWidth address_width = AddressWidth::natural;
    bool operator==(const Operand&) const = default;
};

/// The predicate that decides for each thread whether the instruction is executed.
struct Guard {
    std::uint8_t predicate = kTruePredicate;
    bool invert = false;
    bool uniform = false;
    [[nodiscard]] bool always() const { return predicate == kTruePredicate && !invert; }
    bool operator==(const Guard&) const = default;
};

/// What the compiler tells the warp scheduler about an instruction.
struct Control {
    std::uint8_t stall = 0;                   ///< cycles until the next instruction of the warp can issue
    bool stay = false;                        ///< the warp is preferred at the next issue; false where it yields
    std::uint8_t write_barrier = kNoBarrier;  ///< scoreboard released when results are written
    std::uint8_t read_barrier = kNoBarrier;   ///< scoreboard released when operands are read
    std::uint8_t wait = 0;                    ///< one bit for each scoreboard to wait for
    std::uint8_t reuse = 0;                   ///< one bit for each operand slot (bits 122 to 124)
    bool operator==(const Control&) const = default;
};

struct Instruction {
    static constexpr int kMaxOperands = 10;
    static constexpr int kMaxModifiers = 12;

    const Form* form = nullptr;  ///< the row of the table that it was decoded with
    std::array<Operand, kMaxOperands> operand_store{};
    std::array<std::uint8_t, kMaxModifiers> modifier_values{};  ///< in the order of the row
    Operation operation{};
    std::uint8_t operand_count = 0;
    Guard guard;
    Control control;

    [[nodiscard]] std::span<const Operand> operands() const { return {operand_store.data(), operand_count}; }
    [[nodiscard]] bool has(Modifier modifier) const;
    /// The bits of a modifier, which index its texts; 0 if the form does not have it.
    [[nodiscard]] std::uint8_t value(Modifier modifier) const;
    bool operator==(const Instruction&) const = default;
};

}  // namespace gputomo::sass
