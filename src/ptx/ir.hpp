// The in-memory form of PTX, which builder and parser make, the printer prints and the simulated GPU executes.
#pragma once

#include "units/quantity.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace gputomo::ptx {

/// Fundamental types of PTX (PTX ISA, 5.2).
enum class Type : std::uint8_t {
    none,
    pred,
    b8,
    b16,
    b32,
    b64,
    b128,
    u8,
    u16,
    u32,
    u64,
    s8,
    s16,
    s32,
    s64,
    f16,
    f16x2,
    bf16,
    bf16x2,
    f32,
    f64,
};

/// State spaces (PTX ISA, 5.1).
enum class Space : std::uint8_t { none, generic, reg, param, global, shared, local, constant };

/// Instructions, named as PTX names them before the first dot; a trailing underscore avoids a C++ keyword.
enum class Opcode : std::uint16_t {
    add,
    sub,
    mul,
    mul24,
    mad,
    mad24,
    sad,
    div,
    rem,
    abs,
    neg,
    min,
    max,
    fma,
    addc,
    subc,
    madc,
    rcp,
    sqrt,
    rsqrt,
    sin,
    cos,
    lg2,
    ex2,
    tanh,
    copysign,
    testp,
    and_,
    or_,
    xor_,
    not_,
    cnot,
    shl,
    shr,
    shf,
    lop3,
    prmt,
    bfe,
    bfi,
    brev,
    popc,
    clz,
    bfind,
    szext,
    dp4a,
    dp2a,
    setp,
    set,
    selp,
    slct,
    mov,
    cvt,
    cvta,
    isspacep,
    ld,
    ldu,
    st,
    prefetch,
    atom,
    red,
    tex,
    cp_async,
    bra,
    brx,
    call,
    ret,
    exit,
    trap,
    bar,
    barrier,
    membar,
    fence,
    vote,
    match,
    shfl,
    redux,
    activemask,
    elect,
    nanosleep,
    mapa,
    istypep,
    mbarrier,
    ldmatrix,
    mma,
    wgmma,
    pmevent,
    unknown,  ///< Instruction::refusal says why; nothing but its text and its guard is known
};

/// Special registers (PTX ISA, 10), with the component for the vectors.
enum class SpecialRegister : std::uint8_t {
    tid_x,
    tid_y,
    tid_z,
    ntid_x,
    ntid_y,
    ntid_z,
    ctaid_x,
    ctaid_y,
    ctaid_z,
    nctaid_x,
    nctaid_y,
    nctaid_z,
    laneid,
    warpid,
    nwarpid,
    smid,
    nsmid,
    gridid,
    lanemask_eq,
    lanemask_le,
    lanemask_lt,
    lanemask_ge,
    lanemask_gt,
    clock,
    clock_hi,
    clock64,
    globaltimer,
    globaltimer_lo,
    globaltimer_hi,
    dynamic_smem_size,
    total_smem_size,
};

/// A virtual register, by its index in Kernel::registers.
struct Register {
    std::uint32_t index = 0;
    constexpr bool operator==(const Register&) const = default;
};

/// A literal; floating-point literals are kept as the bits of a double, integers as 64-bit two's complement.
struct Immediate {
    std::uint64_t bits = 0;
    bool is_float = false;
};

/// A name as an operand: a variable (its address), a kernel parameter, or a branch target.
struct SymbolRef {
    std::string name;
};

/// [base + offset]; base is a register, a symbol, or nothing (an absolute address).
struct AddressRef {
    std::variant<std::monostate, Register, SymbolRef> base;
    std::int64_t offset = 0;
};

struct Operand;
/// {a, b, c, d}; an element may be `_` (SinkRef).
struct VectorRef {
    std::vector<Operand> elements;
};
/// `_`, a result that is dropped.
struct SinkRef {};
/// p|q, the two destinations of setp, shfl and vote, or !p as a predicate source.
struct PredicateRef {
    Register predicate;
    bool negated = false;
};

struct Operand {
    std::variant<SinkRef, Register, Immediate, SymbolRef, AddressRef, VectorRef, PredicateRef, SpecialRegister> value;
};

/// @p or @!p before an instruction.
struct Guard {
    Register predicate;
    bool negated = false;
};

/// Fields hold the first two types, the state space and the vector width of suffixes such as ".global.ca.v2.f32". The
/// other suffixes stay in `modifiers` as text, in PTX's order ("lo", "rn", "ftz", "lt", "sync", "volatile", "ca", ...).
///
/// A predicate operand is a Register, and a PredicateRef only as the source `!p`. `p|q` and `d|p` are two destinations.
/// Sources of instructions with special operands:
///
///   st, red   {address, values...}, without a destination
///   bra       {SymbolRef label}
///   brx.idx   {index, SymbolRef list}
///   tex       {AddressRef texture, coordinates}
///   mov       {SpecialRegister} or, for a variable's address, {SymbolRef}
///   call      {function, arguments...}; destinations are the return parameters, all SymbolRef or Register
struct Instruction {
    Opcode opcode{};
    std::vector<std::string> modifiers;
    Space space = Space::none;
    Type type = Type::none;         ///< the first type suffix, mostly the type of the result
    Type source_type = Type::none;  ///< the second type suffix (cvt, set, tex), else equal to `type`
    std::uint8_t vector_width = 1;  ///< 2 or 4 for .v2 and .v4
    std::optional<Guard> guard;
    std::vector<Operand> destinations;
    std::vector<Operand> sources;  ///< in PTX's order; the address operand of ld, st, atom and red is among them
    int line = 0;                  ///< line in the parsed text; 0 if it was built
    std::string refusal;           ///< of Opcode::unknown, whose only modifier is its text

    [[nodiscard]] bool has(std::string_view modifier) const {
        for (const auto& m : modifiers)
            if (m == modifier) return true;
        return false;
    }
};

/// Declared virtual register.
struct RegisterInfo {
    std::string name;  ///< with the percent sign: "%r1"
    Type type = Type::none;
};

/// A .shared, .local, .global or .const variable, or a kernel parameter.
struct Variable {
    std::string name;
    Space space = Space::none;
    Type type = Type::none;
    Bytes size{0};  ///< whole array
    Bytes alignment{0};
    bool is_extern = false;             ///< `.extern .shared x[]`: the launch's dynamic shared memory
    std::vector<std::uint8_t> initial;  ///< empty: zero
};

struct Kernel {
    std::string name;
    std::vector<Variable> parameters;
    std::vector<RegisterInfo> registers;
    std::vector<Variable> variables;  ///< .shared and .local of this kernel
    std::vector<Instruction> body;
    std::map<std::string, std::size_t>
        labels;  ///< label -> index into body of the instruction behind it (may equal body.size())
    std::map<std::string, std::vector<std::string>> branch_targets;  ///< .branchtargets lists, for brx.idx
    std::optional<int> max_threads;                                  ///< .maxntid product
    std::vector<std::string> pragmas;                                ///< .pragma of the whole kernel, e.g. "nounroll"
    std::string refusal;                                             ///< why its body was not read; empty where it was
};

struct Module {
    int version_major = 0;
    int version_minor = 0;
    int target_sm = 0;
    std::string target_suffix;  ///< "a" of sm_90a, "f" of sm_100f; empty for PTX that later GPUs execute, too
    int address_size = 64;
    std::vector<Variable> variables;  ///< module scope: .global, .const, .shared
    std::vector<Kernel> kernels;
    /// Names of declared .func functions. They can't be executed, so a call is an error, but a declaration is not.
    std::vector<std::string> functions;
};

/// Equal up to line numbers.
[[nodiscard]] bool equivalent(const Operand& a, const Operand& b);
[[nodiscard]] bool equivalent(const Instruction& a, const Instruction& b);
[[nodiscard]] bool equivalent(const Kernel& a, const Kernel& b);
[[nodiscard]] bool equivalent(const Module& a, const Module& b);

}  // namespace gputomo::ptx
