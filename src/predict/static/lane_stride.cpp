#include "predict/static/lane_stride.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <variant>

namespace gputomo::predict {
namespace {

using ptx::Opcode;

constexpr LaneValue kUnknown{};
constexpr LaneValue kUniform{.stride = 0, .constant = {}};

LaneValue constant_of(std::int64_t value) { return {.stride = 0, .constant = value}; }

/// By register; nullopt for a register that no instruction has written yet, which agrees with any value.
using Known = std::vector<std::optional<LaneValue>>;

LaneValue value_of(const ptx::Operand& operand, const Known& known) {
    if (const auto* immediate = std::get_if<ptx::Immediate>(&operand.value))
        return immediate->is_float ? kUniform : constant_of(static_cast<std::int64_t>(immediate->bits));
    if (const auto* reg = std::get_if<ptx::Register>(&operand.value)) return known[reg->index].value_or(kUnknown);
    if (const auto* predicate = std::get_if<ptx::PredicateRef>(&operand.value))
        return known[predicate->predicate.index].value_or(kUnknown);
    if (const auto* special = std::get_if<ptx::SpecialRegister>(&operand.value)) {
        using enum ptx::SpecialRegister;
        if (*special == tid_x || *special == laneid) return {.stride = 1, .constant = {}};
        const bool of_lane = *special >= lanemask_eq && *special <= clock64;
        return of_lane ? kUnknown : kUniform;
    }
    return std::holds_alternative<ptx::SymbolRef>(operand.value) ? kUniform : kUnknown;
}

std::optional<std::int64_t> both(std::optional<std::int64_t> a, std::optional<std::int64_t> b,
                                 std::int64_t (*combine)(std::int64_t, std::int64_t)) {
    if (!a || !b) return std::nullopt;
    return combine(*a, *b);
}

// Sums and products wrap around as those of the GPU do.
std::int64_t plus(std::int64_t a, std::int64_t b) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}
std::int64_t minus(std::int64_t a, std::int64_t b) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
}
std::int64_t times(std::int64_t a, std::int64_t b) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
}

LaneValue add(const LaneValue& a, const LaneValue& b) {
    return {both(a.stride, b.stride, plus), both(a.constant, b.constant, plus)};
}
LaneValue subtract(const LaneValue& a, const LaneValue& b) {
    return {both(a.stride, b.stride, minus), both(a.constant, b.constant, minus)};
}

LaneValue multiply(const LaneValue& a, const LaneValue& b) {
    if (a.constant && b.constant) return constant_of(times(*a.constant, *b.constant));
    if (a.constant) return multiply(b, a);
    if (b.constant && a.stride) return {.stride = times(*a.stride, *b.constant), .constant = {}};
    return a.stride == 0 && b.stride == 0 ? kUniform : kUnknown;
}

LaneValue shift_left(const LaneValue& a, const LaneValue& b) {
    if (!b.constant || *b.constant < 0 || *b.constant > 62) return a.stride == 0 && b.stride == 0 ? kUniform : kUnknown;
    return multiply(a, constant_of(std::int64_t{1} << *b.constant));
}

/// Uniform operands give a uniform result, whatever the instruction computes.
LaneValue uniform_or_unknown(const ptx::Instruction& instruction, const Known& known) {
    const bool uniform = std::all_of(instruction.sources.begin(), instruction.sources.end(),
                                     [&](const auto& operand) { return value_of(operand, known).stride == 0; });
    return uniform ? kUniform : kUnknown;
}

LaneValue loaded(const ptx::Instruction& instruction, const Known& known) {
    if (instruction.space == ptx::Space::param) return kUniform;
    for (const auto& source : instruction.sources)
        if (const auto* address = std::get_if<ptx::AddressRef>(&source.value))
            if (const auto* base = std::get_if<ptx::Register>(&address->base))
                return known[base->index].value_or(kUnknown).stride == 0 ? kUniform : kUnknown;
    return kUniform;  // from one variable
}

LaneValue result_of(const ptx::Instruction& instruction, const Known& known) {
    const auto source = [&](std::size_t i) {
        return i < instruction.sources.size() ? value_of(instruction.sources[i], known) : kUnknown;
    };
    if (ptx::Opcode::ld == instruction.opcode || ptx::Opcode::ldu == instruction.opcode)
        return loaded(instruction, known);
    if (instruction.has("hi")) return uniform_or_unknown(instruction, known);
    switch (instruction.opcode) {
        case Opcode::mov:
        case Opcode::cvta:
        case Opcode::cvt: return source(0);
        case Opcode::add: return add(source(0), source(1));
        case Opcode::sub: return subtract(source(0), source(1));
        case Opcode::mul:
        case Opcode::mul24: return multiply(source(0), source(1));
        case Opcode::mad:
        case Opcode::mad24: return add(multiply(source(0), source(1)), source(2));
        case Opcode::shl: return shift_left(source(0), source(1));
        case Opcode::atom:
        case Opcode::shfl:
        case Opcode::elect:
        case Opcode::tex: return kUnknown;
        default: return uniform_or_unknown(instruction, known);
    }
}

/// The facts that two writers of a register agree on.
LaneValue agreed(const LaneValue& a, const LaneValue& b) {
    return {.stride = a.stride == b.stride ? a.stride : std::nullopt,
            .constant = a.constant == b.constant ? a.constant : std::nullopt};
}

/// A guard that differs between threads lets only some of them write, so the result is known only if it is uniform.
LaneValue guarded(const ptx::Instruction& instruction, const LaneValue& value, const Known& known) {
    if (!instruction.guard) return value;
    const bool uniform = known[instruction.guard->predicate.index].value_or(kUnknown).stride == 0;
    return uniform ? LaneValue{.stride = value.stride, .constant = {}} : kUnknown;
}

bool write(const ptx::Operand& operand, const LaneValue& value, Known& known) {
    if (const auto* vector = std::get_if<ptx::VectorRef>(&operand.value)) {
        bool changed = false;
        for (const auto& element : vector->elements)
            changed = write(element, value.stride == 0 ? kUniform : kUnknown, known) || changed;
        return changed;
    }
    const auto* reg = std::get_if<ptx::Register>(&operand.value);
    if (reg == nullptr) return false;
    auto& now = known[reg->index];
    const LaneValue joined = now ? agreed(*now, value) : value;
    if (now == joined) return false;
    now = joined;
    return true;
}

}  // namespace

std::vector<LaneValue> lane_values(const ptx::Kernel& kernel) {
    Known known(kernel.registers.size());
    // Each change removes a fact about a register after its first write, so the iteration ends.
    for (bool changed = true; changed;) {
        changed = false;
        for (const auto& instruction : kernel.body) {
            const LaneValue value = guarded(instruction, result_of(instruction, known), known);
            for (const auto& destination : instruction.destinations)
                changed = write(destination, value, known) || changed;
        }
    }
    std::vector<LaneValue> values;
    for (const auto& value : known) values.push_back(value.value_or(kUnknown));
    return values;
}

std::optional<std::int64_t> address_stride(const ptx::AddressRef& address, const std::vector<LaneValue>& values) {
    const auto* base = std::get_if<ptx::Register>(&address.base);
    return base == nullptr ? std::optional<std::int64_t>(0) : values[base->index].stride;
}

}  // namespace gputomo::predict
