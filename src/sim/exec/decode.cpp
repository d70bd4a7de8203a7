#include "ptx/instructions.hpp"
#include "ptx/names.hpp"
#include "ptx/printer.hpp"
#include "sim/exec/decoder.hpp"
#include "sim/exec/named_modifiers.hpp"
#include "units/error.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace gputomo::sim {
namespace {

using ptx::Opcode;
using ptx::Space;
using ptx::Type;

constexpr Named<BarrierMode> kBarrierModes[] = {
    {"arrive", BarrierMode::arrive}, {"popc", BarrierMode::popc}, {"and", BarrierMode::and_}, {"or", BarrierMode::or_}};

constexpr std::pair<Opcode, Kind> kKinds[] = {
    {Opcode::ld, Kind::load},       {Opcode::ldu, Kind::load},           {Opcode::st, Kind::store},
    {Opcode::atom, Kind::atomic},   {Opcode::red, Kind::atomic},         {Opcode::tex, Kind::texture},
    {Opcode::bra, Kind::branch},    {Opcode::brx, Kind::indexed_branch}, {Opcode::ret, Kind::exit},
    {Opcode::exit, Kind::exit},     {Opcode::bar, Kind::barrier},        {Opcode::barrier, Kind::barrier},
    {Opcode::trap, Kind::trap},     {Opcode::membar, Kind::fence},       {Opcode::fence, Kind::fence},
    {Opcode::prefetch, Kind::load}, {Opcode::nanosleep, Kind::sleep},    {Opcode::pmevent, Kind::nothing}};

Kind kind_of(const ptx::Instruction& instruction) {
    if (instruction.opcode == Opcode::bar && instruction.has("warp")) return Kind::warp_barrier;
    for (const auto& [opcode, kind] : kKinds)
        if (opcode == instruction.opcode) return kind;
    if (instruction.opcode == Opcode::mov && instruction.sources.size() == 1 &&
        std::holds_alternative<ptx::SpecialRegister>(instruction.sources[0].value))
        return Kind::special;
    return Kind::arithmetic;
}

/// 32-bit registers that a value takes; predicates have a file of their own.
std::uint8_t words_of(Type type) {
    return static_cast<std::uint8_t>(type == Type::pred ? 0 : (ptx::size_of(type).count() + 3) / 4);
}

}  // namespace

Program Decoder::run() {
    program_.name = kernel_.name;
    program_.slots = program_.register_slots = slot_count(kernel_.registers.size());
    lay_out_parameters();
    lay_out_local();
    lay_out_shared();
    program_.max_threads = kernel_.max_threads.value_or(0);
    for (const auto& instruction : kernel_.body) {
        at_ = &instruction;
        program_.operations.push_back(decode_or_refuse(instruction));
        note_registers(program_.operations.back());
        program_.texts.push_back(ptx::to_text(kernel_, instruction));
    }
    // Running off the end of the body ends the thread.
    program_.operations.push_back({.kind = Kind::exit, .line = kernel_.body.empty() ? 0 : kernel_.body.back().line});
    program_.operations.back().cost = program_.operations.size() > 1 ? program_.operations.front().cost : 0;
    program_.texts.emplace_back("(end of kernel)");
    if (program_.cost_keys.empty()) program_.cost_keys.emplace_back("ret");
    find_reconvergence(program_.operations);
    program_.register_words.assign(program_.slots, 0);
    for (std::size_t i = 0; i < kernel_.registers.size(); ++i)
        program_.register_words[i] = words_of(kernel_.registers[i].type);
    program_.registers_per_thread = register_pressure(program_.operations, program_.register_words);
    return std::move(program_);
}

Operation Decoder::decode(const ptx::Instruction& instruction) {
    Operation op;
    op.kind = kind_of(instruction);
    op.opcode = instruction.opcode;
    op.type = instruction.type;
    op.space = instruction.space;
    op.line = instruction.line;
    op.flush = instruction.has("ftz");
    op.saturate = instruction.has("sat");
    op.cost = cost_index(instruction);
    if (instruction.guard) {
        op.guard = static_cast<std::uint16_t>(instruction.guard->predicate.index);
        op.guard_negated = instruction.guard->negated;
    }
    switch (op.kind) {
        case Kind::arithmetic: decode_arithmetic(instruction, op); break;
        case Kind::special: decode_special(instruction, op); break;
        case Kind::load:
        case Kind::store:
        case Kind::atomic: decode_memory(instruction, op); break;
        case Kind::texture: decode_texture(instruction, op); break;
        case Kind::branch: op.target = label(std::get<ptx::SymbolRef>(instruction.sources.at(0).value).name); break;
        case Kind::indexed_branch: decode_indexed_branch(instruction, op); break;
        case Kind::barrier: decode_barrier(instruction, op); break;
        case Kind::warp_barrier: op.members = slot(instruction.sources.at(0), Type::u32); break;
        case Kind::sleep: op.source[0] = slot(instruction.sources.at(0), Type::u32); break;
        case Kind::exit:
        case Kind::trap:
        case Kind::fence:
        case Kind::nothing:
        case Kind::refused: break;
    }
    return op;
}

Operation Decoder::decode_or_refuse(const ptx::Instruction& instruction) {
    std::string why = instruction.refusal;
    if (instruction.opcode != Opcode::unknown) {
        try {
            return decode(instruction);
        } catch (const InputError& error) {
            why = error.what();
        }
    }
    Operation refused;
    refused.kind = Kind::refused;
    refused.opcode = Opcode::unknown;
    refused.line = instruction.line;
    refused.refusal = slot_count(program_.refusals.size());
    program_.refusals.push_back(std::move(why));
    ptx::Instruction trap;
    trap.opcode = Opcode::trap;
    refused.cost = cost_index(trap);
    if (instruction.guard) {
        refused.guard = static_cast<std::uint16_t>(instruction.guard->predicate.index);
        refused.guard_negated = instruction.guard->negated;
    }
    return refused;
}

void Decoder::decode_special(const ptx::Instruction& instruction, Operation& op) {
    op.special = std::get<ptx::SpecialRegister>(instruction.sources.at(0).value);
    decode_destinations(instruction, op);
}

void Decoder::decode_memory(const ptx::Instruction& instruction, Operation& op) {
    if (op.space == Space::none) op.space = Space::generic;
    op.bytes = static_cast<std::uint8_t>(ptx::size_of(instruction.type).count());
    op.sign_extend = instruction.type == Type::s8 || instruction.type == Type::s16 || instruction.type == Type::s32;
    for (const auto* bypass : {"cg", "cv", "volatile", "relaxed", "acquire", "mmio"})
        op.bypass_near |= instruction.has(bypass);
    op.read_only = instruction.has("nc");
    if (instruction.opcode == Opcode::prefetch) {
        op.bytes = 1;
        op.elements = 0;
        op.bypass_near = instruction.has("L2");
        return set_address(instruction.sources.at(0), op);
    }
    // Other cache operators (.cs, .lu, evict_first, L2::64B, ...) are hints that a GPU may ignore, and this one
    // does.
    if (instruction.has("L1::no_allocate"))
        fail(fmt::format("'{}' cannot be simulated yet", ptx::mnemonic_of(instruction)));
    if (op.bytes == 0 || op.bytes > 8)
        fail(fmt::format("type of '{}' cannot be simulated", ptx::mnemonic_of(instruction)));
    set_address(instruction.sources.at(0), op);
    if (op.kind == Kind::load) {
        set_vector(instruction.destinations.at(0), op);
    } else if (op.kind == Kind::store) {
        set_vector(instruction.sources.at(1), op);
    } else {
        decode_atomic(instruction, op);
    }
}

void Decoder::decode_atomic(const ptx::Instruction& instruction, Operation& op) {
    static constexpr std::string_view kAtomics[] = {"add", "min", "max", "exch", "cas",
                                                    "and", "or",  "xor", "inc",  "dec"};
    bool found = false;
    for (std::size_t i = 0; i < std::size(kAtomics); ++i)
        if (instruction.has(kAtomics[i])) {
            op.mode = static_cast<std::uint8_t>(i);
            found = true;
        }
    if (!found || op.bytes < 4 || op.elements != 1)
        fail(fmt::format("'{}' cannot be simulated yet", ptx::mnemonic_of(instruction)));
    for (std::size_t i = 1; i < instruction.sources.size(); ++i) op.source[i] = slot(instruction.sources[i], op.type);
    op.destination = instruction.destinations.empty() ? sink() : slot(instruction.destinations[0], op.type);
}

void Decoder::decode_texture(const ptx::Instruction& instruction, Operation& op) {
    if (!instruction.has("1d")) fail("only tex.1d can be simulated");
    if (instruction.source_type != Type::s32) fail("only integer coordinates, .s32, can be simulated");
    set_vector(instruction.destinations.at(0), op);
    const auto* address = std::get_if<ptx::AddressRef>(&instruction.sources.at(0).value);
    const auto* reg = address == nullptr ? nullptr : std::get_if<ptx::Register>(&address->base);
    if (reg == nullptr) fail("expected a texture object in a register");
    op.source[0] = static_cast<std::uint16_t>(reg->index);
    const ptx::Operand* coordinate = &instruction.sources.at(1);
    if (const auto* vector = std::get_if<ptx::VectorRef>(&coordinate->value)) coordinate = &vector->elements.at(0);
    op.source[1] = slot(*coordinate, Type::s32);
    op.bytes = 4;
}

void Decoder::decode_indexed_branch(const ptx::Instruction& instruction, Operation& op) {
    op.source[0] = slot(instruction.sources.at(0), Type::u32);
    const auto* list = std::get_if<ptx::SymbolRef>(&instruction.sources.at(1).value);
    const auto targets = list == nullptr ? kernel_.branch_targets.end() : kernel_.branch_targets.find(list->name);
    if (targets == kernel_.branch_targets.end()) fail("expected the name of a .branchtargets list");
    for (const auto& name : targets->second) op.targets.push_back(label(name));
}

void Decoder::decode_barrier(const ptx::Instruction& instruction, Operation& op) {
    if (instruction.has("cluster")) fail(fmt::format("'{}' cannot be simulated yet", ptx::mnemonic_of(instruction)));
    op.mode = static_cast<std::uint8_t>(first_named(instruction, kBarrierModes).value_or(BarrierMode::sync));
    std::size_t plain = instruction.sources.size();
    if (instruction.has("red")) {
        decode_destinations(instruction, op);
        op.source[2] = slot(instruction.sources.at(--plain), Type::pred);
        if (const auto* predicate = std::get_if<ptx::PredicateRef>(&instruction.sources[plain].value);
            predicate != nullptr && predicate->negated)
            op.negated_sources |= 1U << 2;
    }
    for (std::size_t i = 0; i < plain; ++i) op.source[i] = slot(instruction.sources[i], Type::u32);
}

Program decode(const ptx::Module& module, const ptx::Kernel& kernel, const SymbolTable& symbols) {
    return Decoder(module, kernel, symbols).run();
}

}  // namespace gputomo::sim
