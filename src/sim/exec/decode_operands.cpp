// Lays out parameters and variables, and decodes operands into register slots.
#include "ptx/instructions.hpp"
#include "ptx/names.hpp"
#include "ptx/printer.hpp"
#include "sim/exec/decoder.hpp"
#include "units/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace gputomo::sim {

using ptx::Opcode;
using ptx::Space;
using ptx::Type;

std::uint16_t Decoder::slot_count(std::size_t n) {
    if (n >= kNoSlot) throw InputError("more than 65534 registers and literals; expected fewer");
    return static_cast<std::uint16_t>(n);
}

void Decoder::fail(const std::string& what) const {
    throw InputError(
        fmt::format("kernel {}, line {}: {}\n    {}", kernel_.name, at_->line, what, ptx::to_text(kernel_, *at_)));
}

void Decoder::lay_out_parameters() {
    std::size_t offset = 0;
    for (const auto& parameter : kernel_.parameters) {
        const auto alignment = std::max<std::size_t>(1, static_cast<std::size_t>(parameter.alignment.count()));
        const auto size = static_cast<std::size_t>(parameter.size.count());
        offset = (offset + alignment - 1) / alignment * alignment;
        program_.parameters.push_back({parameter.name, offset, size});
        offset += size;
    }
    program_.parameter_bytes = offset;
}

void Decoder::lay_out_local() {
    for (const auto& variable : kernel_.variables) {
        if (variable.space != Space::local) continue;
        const auto alignment = std::max<std::uint64_t>(4, static_cast<std::uint64_t>(variable.alignment.count()));
        program_.local_bytes = (program_.local_bytes + alignment - 1) / alignment * alignment;
        local_[variable.name] = program_.local_bytes;
        program_.local_bytes += static_cast<std::uint64_t>(variable.size.count());
    }
    program_.local_bytes = (program_.local_bytes + 3) / 4 * 4;
}

void Decoder::place_shared(const ptx::Variable& variable) {
    if (variable.space != Space::shared || variable.is_extern) return;
    const auto alignment = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(variable.alignment.count()));
    program_.static_shared = (program_.static_shared + alignment - 1) / alignment * alignment;
    shared_[variable.name] = program_.static_shared;
    program_.static_shared += static_cast<std::uint64_t>(variable.size.count());
}

void Decoder::lay_out_shared() {
    for (const auto& variable : kernel_.variables) place_shared(variable);
    for (const auto& variable : module_.variables) place_shared(variable);
    constexpr std::uint64_t kDynamicAlignment = 16;
    const std::uint64_t dynamic =
        (program_.static_shared + kDynamicAlignment - 1) / kDynamicAlignment * kDynamicAlignment;
    const auto place_dynamic = [&](const ptx::Variable& variable) {
        if (variable.space != Space::shared || !variable.is_extern) return;
        shared_[variable.name] = dynamic;
        program_.static_shared = dynamic;
    };
    for (const auto& variable : kernel_.variables) place_dynamic(variable);
    for (const auto& variable : module_.variables) place_dynamic(variable);
}

std::uint16_t Decoder::constant(std::uint64_t bits) {
    const auto [entry, is_new] = constant_slots_.try_emplace(bits, program_.slots);
    if (is_new) {
        program_.constants.emplace_back(program_.slots, bits);
        program_.slots = slot_count(std::size_t{program_.slots} + 1);
    }
    return entry->second;
}

std::uint64_t Decoder::literal_bits(const ptx::Immediate& immediate, Type type) {
    if (!immediate.is_float) {
        if (type == Type::f32)
            return std::bit_cast<std::uint32_t>(static_cast<float>(static_cast<std::int64_t>(immediate.bits)));
        if (type == Type::f64)
            return std::bit_cast<std::uint64_t>(static_cast<double>(static_cast<std::int64_t>(immediate.bits)));
        return immediate.bits;
    }
    if (type == Type::f64 || type == Type::b64) return immediate.bits;
    return std::bit_cast<std::uint32_t>(static_cast<float>(std::bit_cast<double>(immediate.bits)));
}

std::uint64_t Decoder::symbol_address(const std::string& name) const {
    if (const auto found = shared_.find(name); found != shared_.end()) return found->second;
    if (const auto found = symbols_.find(name); found != symbols_.end()) return found->second;
    if (const auto found = local_.find(name); found != local_.end()) return found->second;
    fail(fmt::format("'{}' is not declared; expected a variable of the module or the kernel", name));
}

std::uint16_t Decoder::slot(const ptx::Operand& operand, Type type) {
    if (const auto* reg = std::get_if<ptx::Register>(&operand.value)) return static_cast<std::uint16_t>(reg->index);
    if (const auto* predicate = std::get_if<ptx::PredicateRef>(&operand.value))
        return static_cast<std::uint16_t>(predicate->predicate.index);
    if (const auto* immediate = std::get_if<ptx::Immediate>(&operand.value))
        return constant(literal_bits(*immediate, type));
    if (const auto* symbol = std::get_if<ptx::SymbolRef>(&operand.value)) return constant(symbol_address(symbol->name));
    if (std::holds_alternative<ptx::SinkRef>(operand.value)) return sink();
    if (const auto* address = std::get_if<ptx::AddressRef>(&operand.value);
        address != nullptr && address->base.index() == 2)
        return constant(symbol_address(std::get<ptx::SymbolRef>(address->base).name) +
                        static_cast<std::uint64_t>(address->offset));
    fail("this form of operand cannot be simulated");
}

std::uint16_t Decoder::sink() {
    if (sink_ == kNoSlot) {
        sink_ = program_.slots;
        program_.slots = slot_count(std::size_t{program_.slots} + 1);
    }
    return sink_;
}

std::uint16_t Decoder::carry() {
    if (carry_ == kNoSlot) {
        carry_ = program_.slots;
        program_.slots = slot_count(std::size_t{program_.slots} + 1);
    }
    return carry_;
}

void Decoder::note_registers(Operation& op) const {
    const auto add = [&](auto& list, std::uint8_t& count, std::uint16_t slot) {
        const bool is_register = slot != kNoSlot && (slot < kernel_.registers.size() || slot == carry_);
        if (!is_register || std::find(list.begin(), list.begin() + count, slot) != list.begin() + count) return;
        list.at(count++) = slot;
    };
    const bool vector_result = op.kind == Kind::load || op.kind == Kind::texture || op.kind == Kind::arithmetic;
    for (const auto slot : op.source) add(op.waits, op.wait_count, slot);
    for (const auto slot : op.vector) add(op.waits, op.wait_count, slot);
    for (const auto slot : {op.destination, op.destination2, op.guard, op.members}) add(op.waits, op.wait_count, slot);
    for (const auto slot : {op.destination, op.destination2}) add(op.writes, op.write_count, slot);
    if (vector_result)
        for (const auto slot : op.vector) add(op.writes, op.write_count, slot);
}

std::uint16_t Decoder::cost_index(const ptx::Instruction& instruction) {
    const std::string key = ptx::mnemonic_of(instruction);
    const auto [entry, is_new] = costs_.try_emplace(key, static_cast<std::uint16_t>(program_.cost_keys.size()));
    if (is_new) program_.cost_keys.push_back(key);
    return entry->second;
}

std::uint64_t Decoder::parameter_offset(const std::string& name) const {
    for (const auto& parameter : program_.parameters)
        if (parameter.name == name) return parameter.offset;
    fail(fmt::format("no parameter '{}' in this kernel", name));
}

std::uint32_t Decoder::label(const std::string& name) const {
    const auto found = kernel_.labels.find(name);
    if (found == kernel_.labels.end()) fail(fmt::format("no label '{}' in this kernel", name));
    return static_cast<std::uint32_t>(found->second);
}

void Decoder::set_address(const ptx::Operand& operand, Operation& op) {
    const auto* address = std::get_if<ptx::AddressRef>(&operand.value);
    if (address == nullptr) fail("expected an address in brackets");
    op.offset = address->offset;
    if (const auto* reg = std::get_if<ptx::Register>(&address->base)) {
        op.source[0] = static_cast<std::uint16_t>(reg->index);
    } else if (const auto* symbol = std::get_if<ptx::SymbolRef>(&address->base)) {
        op.source[0] =
            constant(op.space == Space::param ? parameter_offset(symbol->name) : symbol_address(symbol->name));
    } else {
        op.source[0] = constant(0);
    }
}

void Decoder::set_vector(const ptx::Operand& operand, Operation& op) {
    const auto* vector = std::get_if<ptx::VectorRef>(&operand.value);
    op.elements = vector == nullptr ? 1 : static_cast<std::uint8_t>(vector->elements.size());
    if (op.elements > op.vector.size()) fail("has more elements than the simulator can execute");
    for (std::size_t i = 0; i < op.elements; ++i)
        op.vector[i] = slot(vector == nullptr ? operand : vector->elements[i], op.type);
}

void Decoder::decode_destinations(const ptx::Instruction& instruction, Operation& op) {
    if (instruction.destinations.empty()) fail("has no destination");
    op.destination = slot(instruction.destinations[0], instruction.type);
    if (instruction.destinations.size() > 1 && !std::holds_alternative<ptx::SinkRef>(instruction.destinations[1].value))
        op.destination2 = slot(instruction.destinations[1], Type::pred);
}

void Decoder::decode_sources(const ptx::Instruction& instruction, Operation& op) {
    if (instruction.sources.size() > op.source.size()) fail("has more operands than the simulator can execute");
    for (std::size_t i = 0; i < instruction.sources.size(); ++i) {
        const bool selected = instruction.opcode == Opcode::slct && i < 2;
        op.source[i] = slot(instruction.sources[i], selected ? instruction.type : instruction.source_type);
        if (const auto* predicate = std::get_if<ptx::PredicateRef>(&instruction.sources[i].value))
            op.negated_sources |= static_cast<std::uint8_t>(predicate->negated ? 1U << i : 0U);
    }
}

}  // namespace gputomo::sim
