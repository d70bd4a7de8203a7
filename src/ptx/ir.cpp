#include "ptx/ir.hpp"

#include <algorithm>

namespace gputomo::ptx {
namespace {

bool same(const SinkRef&, const SinkRef&) { return true; }
bool same(const Register& a, const Register& b) { return a == b; }
bool same(const Immediate& a, const Immediate& b) { return a.bits == b.bits && a.is_float == b.is_float; }
bool same(const SymbolRef& a, const SymbolRef& b) { return a.name == b.name; }
bool same(const PredicateRef& a, const PredicateRef& b) { return a.predicate == b.predicate && a.negated == b.negated; }
bool same(const SpecialRegister& a, const SpecialRegister& b) { return a == b; }

bool same(const AddressRef& a, const AddressRef& b) {
    if (a.offset != b.offset || a.base.index() != b.base.index()) return false;
    if (const auto* r = std::get_if<Register>(&a.base)) return *r == std::get<Register>(b.base);
    if (const auto* s = std::get_if<SymbolRef>(&a.base)) return s->name == std::get<SymbolRef>(b.base).name;
    return true;
}

bool same(const VectorRef& a, const VectorRef& b) {
    return std::ranges::equal(a.elements, b.elements,
                              [](const Operand& x, const Operand& y) { return equivalent(x, y); });
}

bool same(const std::optional<Guard>& a, const std::optional<Guard>& b) {
    if (!a || !b) return !a && !b;
    return a->predicate == b->predicate && a->negated == b->negated;
}

bool same(const std::vector<Operand>& a, const std::vector<Operand>& b) {
    return std::ranges::equal(a, b, [](const Operand& x, const Operand& y) { return equivalent(x, y); });
}

bool same(const Variable& a, const Variable& b) {
    return a.name == b.name && a.space == b.space && a.type == b.type && a.size == b.size &&
           a.alignment == b.alignment && a.is_extern == b.is_extern && a.initial == b.initial;
}

bool same(const std::vector<Variable>& a, const std::vector<Variable>& b) {
    return std::ranges::equal(a, b, [](const Variable& x, const Variable& y) { return same(x, y); });
}

}  // namespace

bool equivalent(const Operand& a, const Operand& b) {
    if (a.value.index() != b.value.index()) return false;
    return std::visit([&b](const auto& x) { return same(x, std::get<std::decay_t<decltype(x)>>(b.value)); }, a.value);
}

bool equivalent(const Instruction& a, const Instruction& b) {
    return a.opcode == b.opcode && a.modifiers == b.modifiers && a.space == b.space && a.type == b.type &&
           a.source_type == b.source_type && a.vector_width == b.vector_width && same(a.guard, b.guard) &&
           same(a.destinations, b.destinations) && same(a.sources, b.sources);
}

bool equivalent(const Kernel& a, const Kernel& b) {
    const auto same_register = [](const RegisterInfo& x, const RegisterInfo& y) {
        return x.name == y.name && x.type == y.type;
    };
    const auto same_instruction = [](const Instruction& x, const Instruction& y) { return equivalent(x, y); };
    return a.name == b.name && same(a.parameters, b.parameters) && same(a.variables, b.variables) &&
           a.labels == b.labels && a.branch_targets == b.branch_targets && a.max_threads == b.max_threads &&
           a.pragmas == b.pragmas && a.refusal == b.refusal &&
           std::ranges::equal(a.registers, b.registers, same_register) &&
           std::ranges::equal(a.body, b.body, same_instruction);
}

bool equivalent(const Module& a, const Module& b) {
    return a.version_major == b.version_major && a.version_minor == b.version_minor && a.target_sm == b.target_sm &&
           a.target_suffix == b.target_suffix && a.address_size == b.address_size && a.functions == b.functions &&
           same(a.variables, b.variables) &&
           std::ranges::equal(a.kernels, b.kernels, [](const Kernel& x, const Kernel& y) { return equivalent(x, y); });
}

}  // namespace gputomo::ptx
