// A kernel builder that reads like assembly: typed registers, labels, loops, clock reads.
//
//     KernelBuilder k("chase", Target{6, 0, 30});
//     Reg out = k.param(Type::u64, "out"), start = k.param(Type::u64, "start"), n = k.param(Type::u32, "n");
//     Reg p = k.reg(Type::u64);
//     k("mov.u64", p, start);
//     Reg t0 = k.clock32();
//     k.loop(n, [&] { k.repeat(16, [&](int) { k("ld.global.u64", p, Mem{p}); }); });
//     Reg t1 = k.clock_after(p);                      // not before the last load is back
//     k("sub.u32", t1, t1, t0);
//     k("st.global.u32", Mem{out}, t1);
//     k("st.global.u64", Mem{out, 8}, p);
//     std::string text = k.text();                    // ends with `ret`
//
// Every instruction is looked up in the instruction table and its operands are checked as it is appended.
#pragma once

#include "ptx/ir.hpp"

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace gputomo::ptx {

/// The PTX ISA version and the lowest compute capability (sm = 30 for 3.0) that a module is written for.
struct Target {
    int version_major = 6;
    int version_minor = 0;
    int sm = 30;
    constexpr bool operator==(const Target&) const = default;
};

/// A virtual register of the kernel being built.
struct Reg {
    std::uint32_t index = 0;
    Type type = Type::none;
};

/// A predicate or its complement; `!p` makes the complement.
struct Condition {
    Reg predicate;
    bool negated = false;
    Condition(Reg p, bool is_negated = false) : predicate(p), negated(is_negated) {}  // NOLINT: a Reg is a condition
};
[[nodiscard]] inline Condition operator!(Reg p) { return {p, true}; }
[[nodiscard]] inline Condition operator!(Condition c) { return {c.predicate, !c.negated}; }

/// A branch target; place() sets its position.
struct Label {
    std::uint32_t index = 0;
};

/// A variable or parameter by name.
struct Symbol {
    std::string name;
};

/// [base + offset], offset in bytes; base is a register holding an address, or a variable.
struct Mem {
    AddressRef address;
    explicit Mem(Reg base, std::int64_t offset = 0) : address{Register{base.index}, offset} {}
    explicit Mem(const Symbol& base, std::int64_t offset = 0) : address{SymbolRef{base.name}, offset} {}
};

/// `_`: a result that is discarded.
struct Sink {};

/// One operand as it is written in k("add.s32", d, a, 1): registers, numbers, Mem{...}, special registers, labels,
/// vectors (Vec{a, b}), conditions, symbols, Sink. A texture fetch is k("tex.1d.v4.s32.s32", Vec{r, g, b, a},
/// Mem{texture}, Vec{x}).
class Arg {
public:
    Arg(Reg r) : value_(r) {}
    Arg(Condition c) : value_(c) {}
    Arg(Label l) : value_(l) {}
    Arg(const Mem& m) : value_(Operand{m.address}) {}
    Arg(const Symbol& s) : value_(Operand{SymbolRef{s.name}}) {}
    Arg(SpecialRegister s) : value_(Operand{s}) {}
    Arg(Sink) : value_(Operand{SinkRef{}}) {}
    template <std::integral T>
    Arg(T v) : value_(Operand{Immediate{static_cast<std::uint64_t>(v), false}}) {}
    template <std::floating_point T>
    Arg(T v) : value_(Operand{Immediate{double_bits(static_cast<double>(v)), true}}) {}
    Arg(std::vector<Arg> elements) : value_(std::move(elements)) {}

private:
    friend class KernelBuilder;
    static std::uint64_t double_bits(double v);
    std::variant<Operand, Reg, Condition, Label, std::vector<Arg>> value_;
};

/// `{a, b, c, d}`, the operand of vector loads, stores and texture fetches.
struct Vec {
    std::vector<Arg> elements;
    Vec(std::initializer_list<Arg> list) : elements(list) {}
    Vec(std::span<const Reg> list) : elements(list.begin(), list.end()) {}
    operator Arg() const { return Arg(elements); }
};

/// A module-scope variable: constants, tables, global buffers that live in the module.
struct ModuleArray {
    std::string name;
    Space space = Space::constant;      ///< Space::constant or Space::global
    Type type = Type::u32;              ///< element type
    Bytes size{0};                      ///< whole array; may exceed `initial` (the rest is zero)
    Bytes alignment{0};                 ///< 0: that of the element
    std::vector<std::uint8_t> initial;  ///< little-endian bytes; empty: zero
};

/// Builds one kernel. Misuse throws std::logic_error that names kernel and instruction, because it is a fault of the
/// program and not of its input. Examples are an unknown mnemonic, a wrong number or type of operands, and a label that
/// is placed twice or never.
class KernelBuilder {
public:
    KernelBuilder(std::string name, Target target);

    [[nodiscard]] const Target& target() const { return target_; }
    [[nodiscard]] const std::string& name() const { return kernel_.name; }

    // ---- registers, parameters, memory -------------------------------------------------------------------------

    [[nodiscard]] Reg reg(Type type);
    [[nodiscard]] std::vector<Reg> regs(Type type, int count);

    /// Declares the next kernel parameter; the register holds its value from the kernel's start.
    /// Pointers to global memory and texture objects are Type::u64 parameters.
    Reg param(Type type, std::string_view name);

    /// Static shared memory; the u32 register holds its address (for ld.shared and st.shared).
    Reg shared(std::string_view name, Bytes size, Bytes alignment = Bytes{16});
    /// The launch's dynamic shared memory; the u32 register holds its address.
    Reg dynamic_shared(Bytes alignment = Bytes{16});
    /// A per-thread array; the u64 register holds its local address (for ld.local and st.local).
    Reg local(std::string_view name, Bytes size, Bytes alignment = Bytes{16});
    /// A module-scope array that goes with this kernel; the u64 register holds its address in its own space
    /// (ld.const or ld.global). Two kernels of one module may name the same array if its contents are equal.
    Reg array(const ModuleArray& array);

    /// .maxntid: the most threads a block of this kernel may have.
    void max_threads(int threads);

    // ---- instructions ------------------------------------------------------------------------------------------

    /// Appends `mnemonic operands;`, destinations first as in PTX. For shfl/setp with two destinations pass both.
    template <class... Args>
    void operator()(std::string_view mnemonic, Args&&... args) {
        emit(mnemonic, {Arg(std::forward<Args>(args))...}, std::nullopt);
    }

    /// k.when(p)("bra", label): only where p is true.  k.unless(p)(...): only where it is false.
    class Guarded {
    public:
        template <class... Args>
        void operator()(std::string_view mnemonic, Args&&... args) {
            builder_.emit(mnemonic, {Arg(std::forward<Args>(args))...}, condition_);
        }

    private:
        friend class KernelBuilder;
        Guarded(KernelBuilder& builder, Condition condition) : builder_(builder), condition_(condition) {}
        KernelBuilder& builder_;
        Condition condition_;
    };
    [[nodiscard]] Guarded when(Condition condition) { return {*this, condition}; }
    [[nodiscard]] Guarded unless(Condition condition) { return {*this, !condition}; }

    /// Appends an instruction as operator() does, for operand lists made at run time.
    void emit(std::string_view mnemonic, const std::vector<Arg>& args, std::optional<Condition> guard = std::nullopt);

    /// A fresh register holding a special register's value (u64 for clock64 and globaltimer, else u32).
    Reg special(SpecialRegister which);
    /// A fresh u32 register: %ctaid.x * %ntid.x + %tid.x.
    Reg thread_index();
    /// A fresh u64 register: base + index * size (index is u32 or s32, size in bytes; mad.wide).
    Reg element(Reg base, Reg index, Bytes size);

    // ---- control flow ------------------------------------------------------------------------------------------

    [[nodiscard]] Label label();
    void place(Label label);
    /// `count` unrolled copies; the argument counts them from 0.
    void repeat(int count, const std::function<void(int)>& body);
    /// A loop of `count` (u32; a register or a number) iterations that the compiler must not unroll. The body may take
    /// the index of the iteration (a u32 register that counts from 0). Costs one add, setp and bra per iteration.
    void loop(const Arg& count, const std::function<void()>& body);
    void loop(const Arg& count, const std::function<void(Reg)>& body);
    /// while (condition()) body(): `condition` appends the instructions that compute the predicate it returns.
    void while_(const std::function<Condition()>& condition, const std::function<void()>& body);
    void if_(Condition condition, const std::function<void()>& then_body,
             const std::function<void()>& else_body = nullptr);
    /// brx.idx: jumps to targets[index]; index must be below targets.size().
    void branch_table(Reg index, const std::vector<Label>& targets);

    // ---- time --------------------------------------------------------------------------------------------------

    /// Reads the SM's clock into a fresh u32 (u64) register. The compiler ptxas keeps clock reads in order with each
    /// other, with volatile memory operations, barriers and pmevent, but not with arithmetic and ordinary loads. A bare
    /// read at the end of a chain is therefore issued after the last *issue* of the chain, before its result is
    /// available.
    /// Use clock_after at both ends. At the start, apply it to the value that the chain starts from, or else the load
    /// of a kernel parameter falls into the timed part.
    Reg clock32();
    /// Reads the clock before the parameters are loaded that are declared after this call.
    [[nodiscard]] Reg entry_clock32();
    Reg clock64();
    /// A clock read (u32, u64) that is issued only once `result` (any type but predicate) is available:
    ///
    ///     setp.eq.b32 p, result, MAGIC;   @p pmevent 0;   mov.u32 t, %clock;
    ///
    /// ptxas (13.0, sm_80 and sm_90) keeps this order. The setp waits for the result, the guarded pmevent for the setp,
    /// and the clock read stays behind the pmevent. MAGIC differs between calls, so that two setp are not merged into
    /// one. If the result happens to be MAGIC, a pmevent is issued and nothing else changes.
    ///
    /// The cost after the result is the same at both ends: one setp (two for 64-bit values) until its predicate can be
    /// used, and one issue slot. It cancels if a chain of n is compared with one of 2n or of no operations.
    ///
    /// If both times are only subtracted on the GPU, ptxas may read the second clock by another instruction (S2UR, for
    /// CS2R). Store both reads, or compare n with 2n.
    Reg clock_after(Reg result);
    Reg clock64_after(Reg result);

    // ---- result ------------------------------------------------------------------------------------------------

    /// A module with this kernel alone. A final `ret` is added if it is missing.
    [[nodiscard]] Module build() const;
    [[nodiscard]] std::string text() const;

private:
    friend class ModuleBuilder;
    [[nodiscard]] Kernel finished_kernel() const;
    [[nodiscard]] Operand lower(const Arg& arg) const;
    [[nodiscard]] std::string label_name(std::uint32_t index) const;
    [[noreturn]] void misuse(std::string_view mnemonic, const std::string& what) const;
    void prologue(std::string_view mnemonic, const std::vector<Arg>& args);
    void declare(std::string_view name);
    void wait_for(Reg result);
    void counted_loop(const Arg& count, const std::function<void(Reg)>& body);

    Target target_;
    Kernel kernel_;                      ///< body without the prologue, label positions relative to it
    std::vector<Instruction> prologue_;  ///< parameter loads and addresses of variables
    std::vector<Variable> module_variables_;
    std::vector<std::optional<std::size_t>> labels_;  ///< label -> position
    std::uint32_t clock_guards_ = 0;                  ///< clock_after calls so far
};

/// Several kernels, one module.
class ModuleBuilder {
public:
    explicit ModuleBuilder(Target target);
    /// Throws std::logic_error for a kernel of another target, a duplicate name, or arrays of one name that differ.
    void add(const KernelBuilder& kernel);
    [[nodiscard]] Module build() const;
    [[nodiscard]] std::string text() const;

private:
    Module module_;
};

}  // namespace gputomo::ptx
